//! Whether this machine has room for a group of tasks.
//!
//! GPU cards and memory are given to one task at a time. Cores are shared: tasks that ask for more of them
//! than there are run slower, which is better than not at all on the machine at hand.

use pinnace_core::lifecycle::TaskAttempt;
use pinnace_core::words;
use pinnace_exec::machine;

/// What a task asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// Which attempt of which task.
    pub task: TaskAttempt,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// GPU cards.
    pub gpus: u32,
}

/// What a task has, or waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which attempt of which task.
    pub task: TaskAttempt,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// How many GPU cards.
    pub gpus: u32,
    /// Which; none while it waits.
    pub cards: Option<Vec<u32>>,
}

/// What of the machine is spoken for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Memory of tasks that have a place.
    pub held_memory_mb: u64,
    /// Cards of tasks that have a place.
    pub held_cards: Vec<u32>,
    /// Memory for which earlier jobs wait.
    pub earlier_memory_mb: u64,
    /// Cards for which earlier jobs wait.
    pub earlier_gpus: u32,
}

/// What this machine has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Memory in MiB.
    pub memory_mb: u64,
    /// The numbers of the GPU cards.
    pub cards: Vec<u32>,
}

impl Room {
    /// Of this machine. The cards are asked for only if someone wants some, because that takes its time.
    pub fn here(with_cards: bool) -> Self {
        let (_, memory_mb) = machine::cores_and_memory();
        let cards = match with_cards {
            true => machine::gpus().iter().map(|card| card.index).collect(),
            false => Vec::new(),
        };
        Self { memory_mb, cards }
    }
}

/// What comes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All tasks of the group have a place.
    Placed(Vec<Claim>),
    /// There will be room, but there is none now.
    Wait(String),
    /// There will never be room.
    Refused(String),
}

/// Decides about a group of tasks that start together.
pub fn decide(wants: &[Want], room: &Room, claims: &Claims) -> Answer {
    let memory: u64 = wants.iter().map(|want| want.memory_mb).sum();
    let gpus: u64 = wants.iter().map(|want| u64::from(want.gpus)).sum();
    let asks = |what: &str| match wants.len() {
        1 => format!("the task asks for {what}"),
        count => format!("{count} tasks that start together ask for {what}"),
    };
    let cards = |count: u64| words::count(count as usize, "GPU card");
    if gpus > room.cards.len() as u64 {
        return Answer::Refused(format!(
            "{}, and this machine has {}",
            asks(&cards(gpus)),
            match room.cards.len() {
                0 => "none".to_owned(),
                count => count.to_string(),
            },
        ));
    }
    if memory > room.memory_mb {
        return Answer::Refused(format!(
            "{}, and this machine has {} MiB",
            asks(&format!("{memory} MiB of memory")),
            room.memory_mb,
        ));
    }
    let mut free: Vec<u32> = room
        .cards
        .iter()
        .copied()
        .filter(|card| !claims.held_cards.contains(card))
        .collect();
    let free_gpus = (free.len() as u64).saturating_sub(u64::from(claims.earlier_gpus));
    if gpus > 0 && gpus > free_gpus {
        return Answer::Wait(format!(
            "{}; of {}, {} are in use and {} are waited for by earlier jobs",
            asks(&cards(gpus)),
            room.cards.len(),
            room.cards.len() - free.len(),
            claims.earlier_gpus,
        ));
    }
    let spoken_for = claims
        .held_memory_mb
        .saturating_add(claims.earlier_memory_mb);
    if memory > room.memory_mb.saturating_sub(spoken_for) {
        return Answer::Wait(format!(
            "{}; of {} MiB, {} MiB are in use and {} MiB are waited for by earlier jobs",
            asks(&format!("{memory} MiB of memory")),
            room.memory_mb,
            claims.held_memory_mb,
            claims.earlier_memory_mb,
        ));
    }
    let place = |want: &Want| {
        let rest = free.split_off(free.len().min(want.gpus as usize));
        Claim {
            cards: Some(std::mem::replace(&mut free, rest)),
            ..want.waiting()
        }
    };
    Answer::Placed(wants.iter().map(place).collect())
}

impl Want {
    /// The claim of a task that waits.
    pub fn waiting(&self) -> Claim {
        Claim {
            task: self.task,
            memory_mb: self.memory_mb,
            gpus: self.gpus,
            cards: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pinnace_core::lifecycle::TaskId;

    use super::*;

    fn want(index: u32, memory_mb: u64, gpus: u32) -> Want {
        Want {
            task: TaskAttempt {
                job_attempt: 0,
                task: TaskId { role: 0, index },
                attempt: 0,
            },
            memory_mb,
            gpus,
        }
    }

    fn room() -> Room {
        Room {
            memory_mb: 1000,
            cards: vec![0, 1, 2, 3],
        }
    }

    #[test]
    fn tasks_of_a_group_get_different_cards_that_nobody_has() {
        let claims = Claims {
            held_cards: vec![1],
            ..Claims::default()
        };
        let Answer::Placed(places) = decide(&[want(0, 1, 2), want(1, 1, 1)], &room(), &claims)
        else {
            panic!("there is room");
        };
        assert_eq!(places[0].cards, Some(vec![0, 2]));
        assert_eq!(places[1].cards, Some(vec![3]));
    }

    #[test]
    fn more_than_the_machine_has_is_refused_with_the_arithmetic() {
        let answer = decide(&[want(0, 1, 3), want(1, 1, 3)], &room(), &Claims::default());
        let Answer::Refused(why) = answer else {
            panic!("{answer:?}");
        };
        assert!(why.starts_with(
            "2 tasks that start together ask for 6 GPU cards, and this machine has 4"
        ));
        let answer = decide(&[want(0, 1001, 0)], &room(), &Claims::default());
        assert!(matches!(answer, Answer::Refused(why) if why.contains("1001 MiB")));
    }

    #[test]
    fn more_than_is_free_waits_and_does_not_overtake() {
        let claims = Claims {
            held_memory_mb: 500,
            earlier_memory_mb: 400,
            ..Claims::default()
        };
        let waits = decide(&[want(0, 200, 0)], &room(), &claims);
        assert!(
            matches!(&waits, Answer::Wait(why) if why.contains("500 MiB are in use and 400 MiB are waited for"))
        );
        assert!(matches!(
            decide(&[want(0, 100, 0)], &room(), &claims),
            Answer::Placed(_)
        ));
        let claims = Claims {
            held_cards: vec![0, 1],
            earlier_gpus: 1,
            ..Claims::default()
        };
        assert!(matches!(
            decide(&[want(0, 1, 2)], &room(), &claims),
            Answer::Wait(_)
        ));
    }
}
