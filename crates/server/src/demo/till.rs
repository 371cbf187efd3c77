//! The till of the demo's company: what authorises payments and charges them. It works as well as the company's
//! service for payments, so that nobody can pay while that one is down.

use std::time::Duration;

use mainstay_standins::company::On;
use mainstay_standins::payments::{PaymentServer, Settling};
use mainstay_standins::{Director, Grade};
use tokio_util::sync::CancellationToken;

/// The service that it works as well as.
const SERVICE: On = On::Service("payments");
/// How often it looks at the story.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The till.
pub(super) struct Till {
    server: PaymentServer,
}

impl Till {
    /// Takes a free port on loopback.
    pub(super) async fn open() -> std::io::Result<Self> {
        Ok(Self { server: PaymentServer::start(settling(Grade::Fine)).await? })
    }

    /// Where it is asked.
    pub(super) fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// Follows the story until `stop`.
    pub(super) async fn follow(self, director: Director, stop: CancellationToken) {
        let following = async {
            loop {
                self.server.settle(settling(director.world().grade(SERVICE)));
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        stop.run_until_cancelled(following).await;
    }
}

/// What it does with payments.
pub(super) fn settling(grade: Grade) -> Settling {
    match grade {
        Grade::Fine => Settling::Reviews { looks: 2 },
        Grade::Poor => Settling::Reviews { looks: 6 },
        Grade::Failing => Settling::Refuses,
    }
}
