//! The peer: nginx with its nchan module (Debian's nginx and libnginx-mod-nchan), where it is installed.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use mainstay_benches::exchange::exchange;
use mainstay_benches::process::Server;

use crate::followers::{Crowd, now_ns};
use crate::{BYTES, EVENTS, FOLLOWERS, print_cost, round};

const MODULE: &str = "/usr/lib/nginx/modules/ngx_nchan_module.so";

pub(crate) async fn measure() -> anyhow::Result<()> {
    if !Path::new(MODULE).exists() {
        writeln!(std::io::stderr(), "nginx with nchan is not installed; only ours is measured")?;
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    std::fs::write(folder.path().join("nginx.conf"), configuration(port))?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder.path()).arg("-c").arg(folder.path().join("nginx.conf"));
    let server = Server::start_at(&mut command, format!("127.0.0.1:{port}"))?;
    let request = format!(
        "GET /sub HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream\r\n\r\n",
        server.address
    );
    let crowd = Crowd::gather(&server.address, vec![request; FOLLOWERS], EVENTS).await?;
    let address = server.address.clone();
    let cost = round(&server, crowd, async |_| publish(&address).await).await?;
    print_cost("nchan", cost)
}

async fn publish(address: &str) -> anyhow::Result<()> {
    let rest = "x".repeat(BYTES.saturating_sub(40));
    let body = format!("{{\"sent\":{},\"rest\":\"{rest}\"}}", now_ns());
    let request = format!(
        "POST /pub HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(address, &request).await?;
    anyhow::ensure!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    Ok(())
}

fn configuration(port: u16) -> String {
    format!(
        "load_module {MODULE};\ndaemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\n\
         worker_rlimit_nofile 20000;\nevents {{ worker_connections 16000; }}\nhttp {{\n  access_log off;\n  \
         server {{\n    listen 127.0.0.1:{port};\n    \
         location = /sub {{ nchan_subscriber eventsource; nchan_channel_id bench; nchan_eventsource_ping_interval 1; }}\n    \
         location = /pub {{ nchan_publisher; nchan_channel_id bench; }}\n  }}\n}}\n"
    )
}
