//! Many packed rows as the values of one statement: all bytes in one value, cut by their offsets.

use mainstay_store::{Dialect, Sql, StoreError, Tx, Value};

/// One packed row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) service: i64,
    pub(crate) time: i64,
    pub(crate) bytes: &'a [u8],
}

/// Writes `pieces` by `sql`, which is given service, time, start and length of each.
///
/// On SQLite `$1` is a list of such lists and `$2` the bytes; on PostgreSQL `$1` is the bytes and `$2`
/// to `$5` are the lists. What the statement needs besides follows.
pub(crate) async fn insert(
    tx: &mut Tx,
    sql: &Sql,
    pieces: &[Piece<'_>],
    further: &[Value<'_>],
) -> Result<(), StoreError> {
    if pieces.is_empty() {
        return Ok(());
    }
    let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes.iter().copied()).collect();
    let bytes = Value::from(bytes.as_slice());
    match tx.dialect() {
        Dialect::Sqlite => {
            let list = as_json(pieces);
            let values = [&[Value::from(&list), bytes], further].concat();
            tx.execute(sql, &values).await?;
        }
        Dialect::Postgres => {
            let [services, times, starts, lengths] = &as_lists(pieces);
            let lists = [services, times, starts, lengths].map(Value::from);
            let values = [&[bytes], lists.as_slice(), further].concat();
            tx.execute(sql, &values).await?;
        }
    }
    Ok(())
}

/// `[[service, time, start, length], …]`
fn as_json(pieces: &[Piece<'_>]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(pieces.len().saturating_mul(40));
    let mut start = 1_usize;
    for Piece { service, time, bytes } in pieces {
        let opening = if text.is_empty() { '[' } else { ',' };
        // Writing to a text can't fail.
        let _ = write!(text, "{opening}[{service},{time},{start},{}]", bytes.len());
        start = start.saturating_add(bytes.len());
    }
    text.push(']');
    text
}

/// Services, times, starts and lengths.
fn as_lists(pieces: &[Piece<'_>]) -> [Vec<i64>; 4] {
    let mut start = 1_i64;
    let mut lists = [const { Vec::new() }; 4];
    let [services, times, starts, lengths] = &mut lists;
    for piece in pieces {
        let length = i64::try_from(piece.bytes.len()).unwrap_or(i64::MAX);
        services.push(piece.service);
        times.push(piece.time);
        starts.push(start);
        lengths.push(length);
        start = start.saturating_add(length);
    }
    lists
}
