import { parseFloat64, parseInt64, wrapped } from './numbers.ts';
import { Integer, type Value } from './values.ts';

/** A float64 as an int64, as x86 converts what does not fit. */
export function truncated(value: number): bigint {
  return value > -(2 ** 63) && value < 2 ** 63 ? BigInt(Math.trunc(value)) : -(2n ** 63n);
}

/** A number in text without its fraction, as spf13/cast cuts it. */
function withoutFraction(text: string): string {
  const [, whole] = /^([-+]?[0-9]*)(?:\.[0-9]*)?$/.exec(text) ?? [];
  return whole === undefined || !text.includes('.') ? text : /[0-9]/.test(whole) ? whole : `${whole}0`;
}

/** cast.ToInt64: 0 for what is not a number. Text may have a base, as 0x10 and 010. */
export function toInt64(value: Value): bigint {
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'number':
      return truncated(value);
    case 'boolean':
      return value ? 1n : 0n;
    case 'string': {
      const parsed = parseInt64(withoutFraction(value), 0);
      return typeof parsed === 'bigint' ? parsed : 0n;
    }
    default:
      return value instanceof Integer ? wrapped(value.value) : 0n;
  }
}

/** cast.ToFloat64: 0 for what is not a number. */
export function toFloat64(value: Value): number {
  if (typeof value === 'number') {
    return value;
  }
  if (typeof value === 'string') {
    const parsed = parseFloat64(value);
    return typeof parsed === 'number' ? parsed : 0;
  }
  return value instanceof Integer ? Number(value.value) : Number(toInt64(value));
}
