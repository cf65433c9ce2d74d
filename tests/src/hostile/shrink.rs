//! Shrinking of a list that fails.

/// Returns a shorter list for which `fails` still returns `true`: leaves out chunks, at first of half the length, and
/// then smaller ones. Calls `fails` at most `tries` times.
pub(super) fn shrink<T: Copy>(list: &[T], mut tries: u32, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut list = list.to_vec();
    let mut chunk = list.len().div_ceil(2);
    while chunk > 0 {
        let mut start = 0;
        while start < list.len() {
            let Some(left) = tries.checked_sub(1) else { return list };
            tries = left;
            let end = (start + chunk).min(list.len());
            let shorter = [&list[..start], &list[end..]].concat();
            if fails(&shorter) {
                list = shorter;
            } else {
                start = end;
            }
        }
        chunk /= 2;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_do_not_matter_are_left_out() {
        let list: Vec<u32> = (0..1000).collect();
        let fails = |list: &[u32]| list.contains(&17) && list.contains(&800);
        assert_eq!(shrink(&list, 1000, fails), [17, 800]);
    }

    #[test]
    fn number_of_tries_is_limited() {
        let list: Vec<u32> = (0..1000).collect();
        let mut tries = 0;
        let shorter = shrink(&list, 3, |list| {
            tries += 1;
            list.contains(&0)
        });
        assert_eq!((tries, shorter.len()), (3, 500));
    }
}
