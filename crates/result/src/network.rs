//! Writes what the network is made of: its routers, and their ports with what they carried.

use hdf5::Group;

use super::hdf::{Outcome, Values, put_columns, put_list};
use super::results::{Ports, Routers};
use super::scale::{put_table, scale_rows};
use super::schema::{self, Attribute};
use weir_model::KindName;

/// `/data/routers`.
pub(super) fn write_routers(at: &Group, routers: &Routers) -> Outcome<()> {
    let rows = routers.kind.len();
    let numbers: Vec<u32> = (0..rows as u32).collect();
    let kinds = named(&routers.kinds, routers.kind.iter().map(|kind| kind.index()));
    put_kinds(at, &schema::ROUTER_KINDS, &routers.kinds)?;
    put_columns(
        at,
        "",
        &schema::ROUTERS,
        rows,
        [
            Values::U32(&numbers),
            Values::Texts(&kinds),
            Values::U32(&routers.group),
            Values::U32(&routers.domain),
        ],
    )?;
    for (name, coordinates) in &routers.axes {
        let prefix = format!("axis.{name}.");
        put_columns(
            at,
            &prefix,
            &schema::ROUTER_AXIS,
            rows,
            [Values::U32(coordinates)],
        )?;
    }
    scale_rows(at, schema::ROUTERS[0].name)
}

/// The names of kinds, row by row.
fn named(kinds: &[KindName], rows: impl Iterator<Item = usize>) -> Vec<&str> {
    rows.map(|kind| &*kinds[kind]).collect()
}

fn put_kinds(at: &Group, schema: &Attribute, kinds: &[KindName]) -> Outcome<()> {
    let kinds: Vec<String> = kinds.iter().map(|name| name.to_string()).collect();
    put_list(at, schema.name, &kinds)
}

/// `/data/ports`.
pub(super) fn write_ports(at: &Group, ports: &Ports) -> Outcome<()> {
    let kinds = named(&ports.kinds, ports.kind.iter().map(|kind| kind.index()));
    put_kinds(at, &schema::PORT_KINDS, &ports.kinds)?;
    put_table(
        at,
        &schema::PORTS,
        ports.router.len(),
        [
            Values::U32(&ports.router),
            Values::U16(&ports.port),
            Values::Texts(&kinds),
            Values::I32(&ports.peer_router),
            Values::I32(&ports.peer_port),
            Values::I32(&ports.endpoint),
            Values::U64(&ports.bytes),
            Values::U64(&ports.packets),
            Values::U64(&ports.busy_ps),
            Values::U64(&ports.stalled_ps),
            Values::U64(&ports.idle_ps),
            Values::U64(&ports.peak_occupancy_bytes),
        ],
    )
}
