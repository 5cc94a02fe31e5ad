//! A transformer: its parameters, the work of a layer, and the bytes of its messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dimensions of a transformer with gated feed-forward networks and grouped queries. Defaults:
/// Llama 3 8B.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// Layers.
    pub layers: u32,
    /// Width of the hidden state.
    pub hidden: u32,
    /// Width of the feed-forward network; of one expert, if there are experts.
    pub feed_forward: u32,
    /// Width of the keys, and of the values: heads for keys times the size of a head.
    pub keys: u32,
    /// Words of the vocabulary. The first stage has its embedding, the last one the output.
    pub vocabulary: u32,
    /// Tokens of a sequence.
    pub sequence: u32,
    /// Experts in each layer; 0: none.
    pub experts: u32,
    /// Experts that each token goes to.
    pub active_experts: u32,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            layers: 32,
            hidden: 4096,
            feed_forward: 14336,
            keys: 1024,
            vocabulary: 128_256,
            sequence: 8192,
            experts: 0,
            active_experts: 2,
        }
    }
}

impl Model {
    /// Its dimensions and their keys, of which none may be 0.
    pub fn counts(&self) -> [(&'static str, u32); 6] {
        [
            ("model.layers", self.layers),
            ("model.hidden", self.hidden),
            ("model.feed_forward", self.feed_forward),
            ("model.keys", self.keys),
            ("model.vocabulary", self.vocabulary),
            ("model.sequence", self.sequence),
        ]
    }

    /// Parameters of the attention of a layer: queries, output, keys and values.
    pub fn attention(&self) -> u128 {
        let hidden = u128::from(self.hidden);
        2 * hidden * hidden + 2 * hidden * u128::from(self.keys)
    }

    /// Parameters of a feed-forward network: three matrices.
    pub fn feed_forward(&self) -> u128 {
        3 * u128::from(self.hidden) * u128::from(self.feed_forward)
    }

    /// Parameters of a layer that every task of a tensor group shares: all but those of experts.
    pub fn shared(&self) -> u128 {
        match self.experts {
            0 => self.attention() + self.feed_forward(),
            _ => self.attention(),
        }
    }

    /// Parameters of the experts of a layer.
    pub fn of_experts(&self) -> u128 {
        u128::from(self.experts) * self.feed_forward()
    }

    /// Parameters of the embedding, and of the output.
    pub fn embedding(&self) -> u128 {
        u128::from(self.vocabulary) * u128::from(self.hidden)
    }

    /// Bytes of the keys and values of a layer for this many tokens, 2 for each number.
    pub fn cache(&self, tokens: u32) -> u128 {
        2 * 2 * u128::from(tokens) * u128::from(self.keys)
    }

    /// Bytes of the activations of `sequences` sequences, 2 for each number.
    pub fn activations(&self, sequences: u32) -> u128 {
        2 * u128::from(sequences) * u128::from(self.sequence) * u128::from(self.hidden)
    }

    /// Operations of a layer forwards, for `sequences` sequences: 2 for each token and parameter
    /// that acts on it, and those of the attention, in which a token sees half of the others.
    pub fn work(&self, sequences: u32) -> f64 {
        let tokens = f64::from(sequences) * f64::from(self.sequence);
        let networks = match self.experts {
            0 => 1,
            _ => self.active_experts,
        };
        let active = self.attention() as f64 + f64::from(networks) * self.feed_forward() as f64;
        2.0 * tokens * active + 2.0 * tokens * f64::from(self.sequence) * f64::from(self.hidden)
    }
}
