//! Random values for a JSON schema: names of types decide the possible texts.

use serde_json::Value as Json;
use toml::{Table, Value};
use weir::model::{Rng, below, stream};

/// Values that are drawn for integers.
pub const FEW: &[i64] = &[1, 2, 2, 3, 3, 4, 5, 6];
/// The same for values that make nothing large.
pub const MORE: &[i64] = &[0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 16];

const TIMES: &[&str] = &[
    "0 ns", "1 ns", "17.3 ns", "50 ns", "200 ns", "700 ns", "1300 ns",
];
const RATES: &[&str] = &["100 Gbps", "100 Gbps", "25 GB/s", "40 Gbps"];
const SIZES: &[&str] = &[
    "1 flits",
    "100 bits",
    "64 B",
    "4 flits",
    "24 flits",
    "333 B",
    "2 kB",
    "3 packets",
];
const NUMBERS: &[f64] = &[0.0, 0.02, 0.1, 0.3, 0.5, 0.9, 1.0, 1.05, 1.3, 2.0];

/// A source of chance.
pub struct Draw {
    rng: Rng,
    integers: &'static [i64],
}

impl Draw {
    /// The same for the same seed.
    pub fn new(seed: u64) -> Draw {
        let rng = stream(seed, &[]);
        Draw {
            rng,
            integers: MORE,
        }
    }

    /// The integers that are drawn from now on.
    pub fn integers(&mut self, integers: &'static [i64]) {
        self.integers = integers;
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        below(&mut self.rng, n as u32) as usize
    }

    /// One of a list.
    pub fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// True in `percent` of a hundred cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A table of a schema's properties: the required ones, and `percent` of the others. None if
    /// something required cannot be drawn.
    pub fn table(&mut self, schema: &Json, percent: usize) -> Option<Table> {
        self.object(schema, schema, percent)
    }

    fn object(&mut self, schema: &Json, root: &Json, percent: usize) -> Option<Table> {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut table = Table::new();
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let needed = required.contains(&Json::from(key.as_str()));
            if !needed && !self.percent(percent) {
                continue;
            }
            match self.value(property, root) {
                Some(value) => drop(table.insert(key.clone(), value)),
                None if needed => return None,
                None => {}
            }
        }
        Some(table)
    }

    /// Something that a schema describes; None if that is a text without rules.
    fn value(&mut self, schema: &Json, root: &Json) -> Option<Value> {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap_or(name);
            return match name {
                "Duration" | "TimeSpan" => Some(self.one(TIMES).into()),
                "Rate" => Some(self.one(RATES).into()),
                "Size" | "Allowance" => Some(self.one(SIZES).into()),
                "LinkTable" => Some(self.links().into()),
                "WayTable" => Some("at,to,next\n".into()),
                _ => self.value(&root["$defs"][name], root),
            };
        }
        if let Some(text) = schema["const"].as_str() {
            return Some(text.into());
        }
        if let Some(texts) = schema["enum"].as_array() {
            return Some(texts[self.below(texts.len())].as_str()?.into());
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(parts) = schema[key].as_array() {
                let null = Json::from("null");
                let parts: Vec<&Json> = parts.iter().filter(|part| part["type"] != null).collect();
                let part = self.one(&parts);
                return self.value(part, root);
            }
        }
        let kinds = &schema["type"];
        let kind = kinds.as_str().or_else(|| kinds[0].as_str())?;
        match kind {
            "boolean" => Some(self.percent(50).into()),
            "integer" => Some(self.one(self.integers).into()),
            "number" => Some(self.one(NUMBERS).into()),
            "object" => self.object(schema, root, 50).map(Value::Table),
            "array" => self.array(schema, root),
            _ => None,
        }
    }

    /// A connected graph of a few routers, as a table of links.
    fn links(&mut self) -> String {
        let routers = 2 + self.below(6);
        let mut table = "from,to,latency,links\n".to_string();
        for router in 1..routers {
            let (to, links) = (self.below(router), 1 + self.below(2));
            table.push_str(&format!("{router},{to},,{links}\n"));
        }
        for _ in 0..self.below(4) {
            let [a, b] = [self.below(routers), self.below(routers)];
            let latency = self.one(&["", "20 ns", "300 ns"]);
            if a != b {
                table.push_str(&format!("{a},{b},{latency},1\n"));
            }
        }
        table
    }

    fn array(&mut self, schema: &Json, root: &Json) -> Option<Value> {
        let least = schema["minItems"].as_u64().unwrap_or(1) as usize;
        let most = schema["maxItems"].as_u64().unwrap_or(4) as usize;
        let count = least + self.below(most.max(least) - least + 1);
        let items = (0..count).map(|_| self.value(&schema["items"], root));
        items.collect::<Option<Vec<Value>>>().map(Value::Array)
    }
}
