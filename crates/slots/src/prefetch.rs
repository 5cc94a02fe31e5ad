//! Fetching of memory into the cache before it is needed.

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Begins to fetch something into the cache.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(place).cast::<i8>();
        for line in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: a hint, which loads nothing that the program could see; the address is inside
            // of `place`.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(line)) };
        }
        // Its end may be in another line.
        if size_of::<T>() > align_of::<T>() && align_of::<T>() < LINE {
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(size_of::<T>() - 1)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

/// Begins to fetch a whole list into the cache of the core, which holds more than the nearest one.
#[allow(unsafe_code)]
pub fn prefetch_list<T>(list: &[T]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let start = list.as_ptr().cast::<i8>();
        for line in (0..size_of_val(list)).step_by(LINE) {
            // SAFETY: a hint, which loads nothing that the program could see; the address is inside
            // of `list`.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.add(line)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = list;
}

/// Lines of the cache that a list takes.
pub fn lines<T>(list: &[T]) -> u64 {
    (size_of_val(list) / LINE) as u64
}
