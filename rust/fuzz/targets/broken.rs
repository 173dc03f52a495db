//! Defects that a sanitizer must find, to see that it looks: `broken race` or `broken overrun`.
#![allow(unsafe_code)] // to be found

use std::cell::UnsafeCell;
use std::env::args;
use std::hint::black_box;
use std::thread::scope;

/// A number that two threads change at once, as nothing in the kernel does.
struct Shared(UnsafeCell<u64>);

unsafe impl Sync for Shared {}

impl Shared {
    #[inline(never)]
    fn change(&self) {
        unsafe { *self.0.get() += 1 }
    }
}

fn main() {
    match args().nth(1).as_deref() {
        Some("race") => race(),
        Some("overrun") => overrun(),
        _ => eprintln!("usage: broken race | overrun"),
    }
}

fn race() {
    let shared = Shared(UnsafeCell::new(0));
    scope(|scope| {
        let other = scope.spawn(|| (0..1000).for_each(|_| shared.change()));
        (0..1000).for_each(|_| shared.change());
        other.join().expect("it only counts");
    });
    println!("{}", shared.0.into_inner());
}

fn overrun() {
    let numbers = black_box(vec![1_i64; 4]);
    let beyond = unsafe { *numbers.as_ptr().add(black_box(4)) };
    println!("{beyond}");
}
