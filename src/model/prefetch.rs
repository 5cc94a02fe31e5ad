/// Begins to fetch something into the cache.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let start = std::ptr::from_ref(place).cast::<i8>();
        for line in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: a hint, which loads nothing that the program could see; the address is inside of `place`.
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
