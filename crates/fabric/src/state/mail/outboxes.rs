//! The mail of a domain for its neighbours in one window.

use super::post::{CreditMail, PacketMail, Post};
use weir_engine::Mail;
use weir_model::Signal;
use weir_slots::Slots;

/// No place in the list.
const NONE: u32 = u32::MAX;

/// Mail for some neighbours: a domain may have very many, and little to say to most of them.
pub struct Outboxes {
    /// By neighbour: the place of its mail in the list, or [`NONE`].
    places: Slots<u32>,
    /// Neighbours, and mail for each; none of it is empty between two events.
    posts: Vec<(u32, Box<Post>)>,
    /// Empty mail, whose memory is used again.
    #[allow(clippy::vec_box)] // mail goes from list to list, of which a million are short
    spare: Vec<Box<Post>>,
}

impl Outboxes {
    /// No mail yet for any neighbour.
    pub fn new(neighbours: usize) -> Outboxes {
        Outboxes {
            places: vec![NONE; neighbours].into(),
            posts: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// The mail for a neighbour, in which something will be written.
    #[inline(always)]
    pub fn to(&mut self, neighbour: u32) -> &mut Post {
        let place = match self.places[neighbour as usize] {
            NONE => self.open(neighbour),
            place => place,
        };
        &mut self.posts[place as usize].1
    }

    #[inline(never)]
    fn open(&mut self, neighbour: u32) -> u32 {
        let place = self.posts.len() as u32;
        let post = self.spare.pop().unwrap_or_default();
        self.posts.push((neighbour, post));
        self.places[neighbour as usize] = place;
        place
    }

    /// Takes the mail for any neighbour that has some.
    pub fn take_any(&mut self) -> Option<(u32, Box<Post>)> {
        let (neighbour, post) = self.posts.pop()?;
        self.places[neighbour as usize] = NONE;
        Some((neighbour, post))
    }

    /// Takes the mail for a neighbour; it may be empty.
    pub fn take(&mut self, neighbour: u32) -> Box<Post> {
        let place = std::mem::replace(&mut self.places[neighbour as usize], NONE);
        if place == NONE {
            return self.spare.pop().unwrap_or_default();
        }
        let (_, post) = self.posts.swap_remove(place as usize);
        if let Some(&(moved, _)) = self.posts.get(place as usize) {
            self.places[moved as usize] = place;
        }
        post
    }

    /// Takes empty mail back, for as many neighbours as there are at most.
    pub fn reuse(&mut self, post: Box<Post>) {
        if self.spare.len() < self.places.len() {
            self.spare.push(post);
        }
    }

    /// True if there is no mail.
    pub fn is_empty(&self) -> bool {
        self.posts.iter().all(|(_, post)| post.is_empty())
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let posts = self.posts.iter().map(|(_, post)| post);
        let held = posts.chain(&self.spare).map(|post| {
            size_of::<Post>()
                + post.headers.capacity() * 8
                + post.packets.capacity() * size_of::<PacketMail>()
                + post.credits.capacity() * size_of::<CreditMail>()
                + post.signals.capacity() * size_of::<Signal>()
        });
        held.sum::<usize>() + self.places.capacity() * size_of::<u32>()
    }
}
