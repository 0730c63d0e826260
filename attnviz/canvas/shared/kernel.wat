;; The one hot loop: y = x W^T for a weight whose rows are 32-bit numbers or blocks of 32 in GGUF's Q8_0 or Q4_1.
;; Two rows of W are unpacked once and met with four tokens at a time. Assembled by scripts/bundle.mjs.
(module
  (import "engine" "memory" (memory 1))

  ;; The number that 16 bits at an address stand for.
  (func $half (param $at i32) (result f32)
    (local $h i32)
    (local.set $h (i32.load16_u (local.get $at)))
    (f32.copysign
      (f32.mul
        (f32.reinterpret_i32 (i32.shl (i32.and (local.get $h) (i32.const 0x7fff)) (i32.const 13)))
        (f32.const 0x1p112))
      (f32.reinterpret_i32 (i32.shl (local.get $h) (i32.const 16)))))

  ;; 16 numbers: each byte times d plus m.
  (func $spread (param $bytes v128) (param $d v128) (param $m v128) (param $to i32)
    (local $low v128) (local $high v128)
    (local.set $low (i16x8.extend_low_i8x16_s (local.get $bytes)))
    (local.set $high (i16x8.extend_high_i8x16_s (local.get $bytes)))
    (v128.store (local.get $to) (f32x4.add (local.get $m) (f32x4.mul (local.get $d)
      (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $low))))))
    (v128.store offset=16 (local.get $to) (f32x4.add (local.get $m) (f32x4.mul (local.get $d)
      (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $low))))))
    (v128.store offset=32 (local.get $to) (f32x4.add (local.get $m) (f32x4.mul (local.get $d)
      (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $high))))))
    (v128.store offset=48 (local.get $to) (f32x4.add (local.get $m) (f32x4.mul (local.get $d)
      (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $high)))))))

  ;; Where the 32-bit numbers of a row are: unpacked to $to, or the row itself where it holds such numbers (kind 0).
  (func $row (param $kind i32) (param $from i32) (param $to i32) (param $k i32) (result i32)
    (local $at i32) (local $end i32) (local $d v128) (local $m v128) (local $four v128)
    (if (i32.eqz (local.get $kind)) (then (return (local.get $from))))
    (local.set $at (local.get $to))
    (local.set $end (i32.add (local.get $to) (i32.shl (local.get $k) (i32.const 2))))
    (loop $block
      (local.set $d (f32x4.splat (call $half (local.get $from))))
      (if (i32.eq (local.get $kind) (i32.const 1))
        (then
          (call $spread (v128.load offset=2 (local.get $from)) (local.get $d) (local.get $m) (local.get $at))
          (call $spread (v128.load offset=18 (local.get $from)) (local.get $d) (local.get $m)
            (i32.add (local.get $at) (i32.const 64)))
          (local.set $from (i32.add (local.get $from) (i32.const 34))))
        (else
          (local.set $m (f32x4.splat (call $half (i32.add (local.get $from) (i32.const 2)))))
          (local.set $four (v128.load offset=4 (local.get $from)))
          (call $spread (v128.and (local.get $four) (i8x16.splat (i32.const 15))) (local.get $d) (local.get $m)
            (local.get $at))
          (call $spread (i8x16.shr_u (local.get $four) (i32.const 4)) (local.get $d) (local.get $m)
            (i32.add (local.get $at) (i32.const 64)))
          (local.set $from (i32.add (local.get $from) (i32.const 20)))))
      (local.set $at (i32.add (local.get $at) (i32.const 128)))
      (br_if $block (i32.lt_u (local.get $at) (local.get $end))))
    (local.get $to))

  ;; The sums of four numbers each.
  (func $sums (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result v128)
    (f32x4.replace_lane 3 (f32x4.replace_lane 2 (f32x4.replace_lane 1
      (f32x4.splat (call $sum (local.get $a)))
      (call $sum (local.get $b))) (call $sum (local.get $c))) (call $sum (local.get $d))))

  (func $sum (param $x v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.add (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x)))))

  ;; y (t, n) = x (t, k) times w (n, k) transposed; k is a multiple of 4, `room` has place for two rows.
  ;; Up to three rows beyond x are read, and nothing is made of them.
  (func (export "matmul") (param $kind i32) (param $w i32) (param $stride i32) (param $x i32) (param $y i32)
    (param $t i32) (param $k i32) (param $n i32) (param $room i32)
    (local $row i32) (local $i i32) (local $left i32) (local $wide i32) (local $out i32)
    (local $a i32) (local $b i32) (local $p i32) (local $q i32) (local $end i32) (local $token i32)
    (local $u v128) (local $v v128) (local $z v128) (local $s v128) (local $r v128) (local $stop i32) (local $two i32)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $wide (i32.shl (local.get $k) (i32.const 2)))
    (local.set $out (i32.shl (local.get $n) (i32.const 2)))
    (loop $rows
      (local.set $a (call $row (local.get $kind)
        (i32.add (local.get $w) (i32.mul (local.get $row) (local.get $stride))) (local.get $room) (local.get $k)))
      (local.set $b (local.get $a))
      (if (i32.lt_u (i32.add (local.get $row) (i32.const 1)) (local.get $n))
        (then (local.set $b (call $row (local.get $kind)
          (i32.add (local.get $w) (i32.mul (i32.add (local.get $row) (i32.const 1)) (local.get $stride)))
          (i32.add (local.get $room) (local.get $wide)) (local.get $k)))))
      (local.set $token (i32.const 0))
      (loop $tokens
        (local.set $p (i32.add (local.get $x) (i32.mul (local.get $token) (local.get $wide))))
        (local.set $i (i32.const 0))
        (local.set $s (v128.const i32x4 0 0 0 0))
        (local.set $r (local.get $s))
        (loop $stretches  ;; short sums round less than long ones
          (local.set $a0 (v128.const i32x4 0 0 0 0)) (local.set $a1 (local.get $a0))
          (local.set $a2 (local.get $a0)) (local.set $a3 (local.get $a0))
          (local.set $b0 (local.get $a0)) (local.set $b1 (local.get $a0))
          (local.set $b2 (local.get $a0)) (local.set $b3 (local.get $a0))
          (local.set $stop (i32.add (local.get $i) (i32.const 512)))
          (if (i32.gt_u (local.get $stop) (local.get $wide)) (then (local.set $stop (local.get $wide))))
          (loop $numbers
            (local.set $u (v128.load (i32.add (local.get $a) (local.get $i))))
            (local.set $v (v128.load (i32.add (local.get $b) (local.get $i))))
            (local.set $q (i32.add (local.get $p) (local.get $i)))
            (local.set $z (v128.load (local.get $q)))
            (local.set $a0 (f32x4.add (local.get $a0) (f32x4.mul (local.get $u) (local.get $z))))
            (local.set $b0 (f32x4.add (local.get $b0) (f32x4.mul (local.get $v) (local.get $z))))
            (local.set $z (v128.load (local.tee $q (i32.add (local.get $q) (local.get $wide)))))
            (local.set $a1 (f32x4.add (local.get $a1) (f32x4.mul (local.get $u) (local.get $z))))
            (local.set $b1 (f32x4.add (local.get $b1) (f32x4.mul (local.get $v) (local.get $z))))
            (local.set $z (v128.load (local.tee $q (i32.add (local.get $q) (local.get $wide)))))
            (local.set $a2 (f32x4.add (local.get $a2) (f32x4.mul (local.get $u) (local.get $z))))
            (local.set $b2 (f32x4.add (local.get $b2) (f32x4.mul (local.get $v) (local.get $z))))
            (local.set $z (v128.load (i32.add (local.get $q) (local.get $wide))))
            (local.set $a3 (f32x4.add (local.get $a3) (f32x4.mul (local.get $u) (local.get $z))))
            (local.set $b3 (f32x4.add (local.get $b3) (f32x4.mul (local.get $v) (local.get $z))))
            (br_if $numbers (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 16))) (local.get $stop))))
          (local.set $s (f32x4.add (local.get $s)
            (call $sums (local.get $a0) (local.get $a1) (local.get $a2) (local.get $a3))))
          (local.set $r (f32x4.add (local.get $r)
            (call $sums (local.get $b0) (local.get $b1) (local.get $b2) (local.get $b3))))
          (br_if $stretches (i32.lt_u (local.get $i) (local.get $wide))))
        (local.set $end (i32.add (local.get $y) (i32.shl
          (i32.add (i32.mul (local.get $token) (local.get $n)) (local.get $row)) (i32.const 2))))
        (local.set $left (i32.sub (local.get $t) (local.get $token)))
        (local.set $two (i32.lt_u (i32.add (local.get $row) (i32.const 1)) (local.get $n)))
        (loop $stored  ;; one token's two numbers, then those of the next, which move to the front
          (f32.store (local.get $end) (f32x4.extract_lane 0 (local.get $s)))
          (if (local.get $two) (then (f32.store offset=4 (local.get $end) (f32x4.extract_lane 0 (local.get $r)))))
          (local.set $s (i8x16.shuffle 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 (local.get $s) (local.get $s)))
          (local.set $r (i8x16.shuffle 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3 (local.get $r) (local.get $r)))
          (local.set $end (i32.add (local.get $end) (local.get $out)))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (local.set $token (i32.add (local.get $token) (i32.const 1)))
          (br_if $stored (i32.and (i32.gt_s (local.get $left) (i32.const 0))
            (i32.ne (i32.and (local.get $token) (i32.const 3)) (i32.const 0)))))
        (br_if $tokens (i32.lt_u (local.get $token) (local.get $t))))
      (br_if $rows (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 2))) (local.get $n))))))
