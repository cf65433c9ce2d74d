//! The smallest sequence that still shows a finding.
use super::step::Sequence;

/// Removes steps and pauses of a sequence as long as `fails` holds.
pub fn shrink(sequence: &Sequence, fails: impl Fn(&Sequence) -> bool) -> Sequence {
    let mut smallest = sequence.clone();
    let mut size = smallest.steps.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        let mut has_shrunk = false;
        while start < smallest.steps.len() {
            let shorter = without(&smallest, start, size);
            if fails(&shorter) {
                (smallest, has_shrunk) = (shorter, true);
            } else {
                start += size;
            }
        }
        // After single steps were removed, others may have become unnecessary.
        size = if size > 1 { size / 2 } else { usize::from(has_shrunk) };
    }
    for step in 0..smallest.steps.len() {
        for divisor in [0, 8, 2] {
            let mut shorter = smallest.clone();
            shorter.steps[step].after_ms = shorter.steps[step].after_ms.checked_div(divisor).unwrap_or(0);
            if shorter != smallest && fails(&shorter) {
                smallest = shorter;
                break;
            }
        }
    }
    // The last nodes are those of C ibacm.
    while smallest.nodes > 2 && smallest.c_nodes == 0 {
        let fewer = Sequence { nodes: smallest.nodes - 1, ..smallest.clone() };
        if !fails(&fewer) {
            break;
        }
        smallest = fewer;
    }
    smallest
}

/// Returns a sequence without some steps. The other steps are at the same times.
fn without(sequence: &Sequence, start: usize, count: usize) -> Sequence {
    let mut rest = sequence.clone();
    let end = (start + count).min(rest.steps.len());
    let pause: u32 = rest.steps.drain(start..end).map(|step| step.after_ms).sum();
    if let Some(next) = rest.steps.get_mut(start) {
        next.after_ms += pause;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_steps_that_fail_together_are_left() {
        let lines: String = (0..50).map(|number| format!("\n+7 look 1 ip{}", number + 1)).collect();
        let long: Sequence = format!("nodes 9 seed 3{lines}").parse().unwrap();
        let fails = |sequence: &Sequence| {
            let text = sequence.to_string();
            text.contains("ip11") && text.contains("ip40") && sequence.nodes >= 4
        };
        assert_eq!(shrink(&long, fails).to_string(), "nodes 4 seed 3\n+0 look 1 ip11\n+0 look 1 ip40");
    }
}
