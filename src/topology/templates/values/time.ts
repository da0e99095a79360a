import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';
import { withoutTrailingZeros } from './numbers.ts';
import { type Callable, Integer, type Operand, Struct, type Value } from './values.ts';

const months = 'January February March April May June July August September October November December'.split(' ');
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Nanoseconds. */
export const second = 1_000_000_000n;
export const minute = 60n * second;
export const hour = 60n * minute;

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\xc2\xb5s': 1_000n,
  '\xce\xbcs': 1_000n,
  ms: 1_000_000n,
  s: second,
  m: minute,
  h: hour,
};

/**
 * Reads a duration such as 1h30m, in nanoseconds.
 *
 * @throws {FunctionError} with Go's message.
 */
export function parseDuration(text: Bytes): bigint {
  const invalid = (): never => {
    throw new FunctionError(`time: invalid duration ${quoted(text)}`);
  };
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') {
    return 0n;
  }
  let total = unsigned === '' ? invalid() : 0n;
  const part = /([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/y;
  for (let at = 0; at < unsigned.length; at = part.lastIndex) {
    part.lastIndex = at;
    const [, whole = '', fraction = '', name = ''] = part.exec(unsigned) ?? [];
    if (whole === '' && fraction === '') {
      invalid();
    }
    const unit = units[name];
    if (unit === undefined) {
      const problem = name === '' ? 'missing unit in duration' : `unknown unit ${quoted(name)} in duration`;
      throw new FunctionError(`time: ${problem} ${quoted(text)}`);
    }
    const digits = fraction.slice(0, 18);
    const below = digits === '' ? 0n : (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
    total += (whole.length > 20 ? 2n ** 64n : BigInt(whole || '0')) * unit + below;
    if (total >= 2n ** 63n) {
      invalid();
    }
  }
  return text.startsWith('-') ? -total : total;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = withoutTrailingZeros(String(value % unit).padStart(String(unit).length - 1, '0'));
  return `${value / unit}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A duration in nanoseconds as Go prints it. */
export function durationText(duration: bigint): Bytes {
  const size = duration < 0n ? -duration : duration;
  const sign = duration < 0n ? '-' : '';
  if (size === 0n) {
    return '0s';
  }
  if (size < second) {
    return size < 1_000n
      ? `${sign}${size}ns`
      : size < 1_000_000n
        ? `${sign}${decimal(size, 1_000n)}\xc2\xb5s`
        : `${sign}${decimal(size, 1_000_000n)}ms`;
  }
  const minutes = size >= minute ? `${(size / minute) % 60n}m` : '';
  const hours = size >= hour ? `${size / hour}h` : '';
  return `${sign}${hours}${minutes}${decimal(size % minute, second)}s`;
}

/** What a layout has: each part stands for the same part of its reference time, Mon Jan 2 15:04:05 MST 2006. */
const parts =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|15|1|2006|_2(?!006)|2|3|4|5|PM|pm|[-Z]07:?00|[-Z]07|[.,](?:0+|9+)(?![0-9])/g;

const short = (names: readonly string[]): string[] => names.map((name) => name.slice(0, 3));
const oneOf = (names: readonly string[]): string => names.join('|');

/** What a text may have for each part of a layout, but for fractions. */
const shapes: Readonly<Record<string, string>> = {
  January: oneOf(months),
  Jan: oneOf(short(months)),
  Monday: oneOf(days),
  Mon: oneOf(short(days)),
  MST: '[A-Z]{3,5}',
  PM: 'AM|PM',
  pm: 'am|pm',
  '2006': '[0-9]{4}',
  '15': '[0-9]{1,2}',
  _2: ' ?[0-9]{1,2}',
  '-07': '[+-][0-9]{2}',
  '-0700': '[+-][0-9]{4}',
  '-07:00': '[+-][0-9]{2}:[0-9]{2}',
  Z07: 'Z|[+-][0-9]{2}',
  Z0700: 'Z|[+-][0-9]{4}',
  'Z07:00': 'Z|[+-][0-9]{2}:[0-9]{2}',
};

const two = (value: number): string => String(value).padStart(2, '0');

function offsetText(layout: string, offset: number): string {
  const size = Math.abs(offset);
  return layout.startsWith('Z') && offset === 0
    ? 'Z'
    : (offset < 0 ? '-' : '+') +
        layout
          .slice(1)
          .replace('07', two(Math.floor(size / 60)))
          .replace('00', two(size % 60));
}

/** A time, as sprig's `toDate` returns it. */
export class Time extends Struct {
  readonly type = 'time.Time';
  readonly kind = 'struct';
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  /** Minutes east of UTC. */
  readonly offset: number;
  readonly zone: string;

  constructor(at: bigint, offset = 0, zone = 'UTC') {
    super();
    this.at = at;
    this.offset = offset;
    this.zone = zone;
  }

  format(layout: Bytes): Bytes {
    const local = this.at + BigInt(this.offset) * minute;
    const nanosecond = BigInt.asUintN(64, ((local % second) + second) % second);
    const date = new Date(Number((local - nanosecond) / 1_000_000n));
    const [month = '', weekday = ''] = [months[date.getUTCMonth()], days[date.getUTCDay()]];
    const [year, day, hours] = [date.getUTCFullYear(), date.getUTCDate(), date.getUTCHours()];
    const texts: Readonly<Record<string, string>> = {
      January: month,
      Jan: month.slice(0, 3),
      Monday: weekday,
      Mon: weekday.slice(0, 3),
      MST: this.zone || offsetText('-0700', this.offset),
      PM: hours >= 12 ? 'PM' : 'AM',
      pm: hours >= 12 ? 'pm' : 'am',
      '2006': String(year).padStart(4, '0'),
      '06': two(year % 100),
      '01': two(date.getUTCMonth() + 1),
      '02': two(day),
      _2: String(day).padStart(2),
      '15': two(hours),
      '03': two(((hours + 11) % 12) + 1),
      '04': two(date.getUTCMinutes()),
      '05': two(date.getUTCSeconds()),
    };
    const digits = String(nanosecond).padStart(9, '0');
    return layout.replaceAll(parts, (part) => {
      if (/^[.,]/.test(part)) {
        const cut = digits.slice(0, part.length - 1).padEnd(part.length - 1, '0');
        const shown = part[1] === '0' ? cut : withoutTrailingZeros(cut);
        return shown === '' ? '' : `${part[0]}${shown}`;
      }
      return texts[part] ?? texts[`0${part}`]?.replace(/^0/, '') ?? offsetText(part, this.offset);
    });
  }

  text(): Bytes {
    return this.format('2006-01-02 15:04:05.999999999 -0700 MST');
  }

  json(): Value {
    return this.format('2006-01-02T15:04:05.999999999Z07:00');
  }

  fields() {
    return [];
  }

  equals(other: Struct): boolean {
    return other instanceof Time && this.at === other.at && this.offset === other.offset && this.zone === other.zone;
  }

  /** Whole seconds since 1970. */
  unix(): bigint {
    return (this.at - (((this.at % second) + second) % second)) / second;
  }

  method(name: string): Callable {
    const plain = (call: () => Operand): Callable => ({ parameters: [], isAny: false, call });
    switch (name) {
      case 'String':
        return plain(() => this.text());
      case 'Format':
        return { parameters: ['string'], isAny: false, call: ([layout]) => this.format(layout as Bytes) };
      case 'Unix':
        return plain(() => new Integer('int64', this.unix()));
      case 'IsZero':
        return plain(() => this.at === zeroTime.at);
      default: {
        const layout = numbers[name];
        if (layout !== undefined) {
          return plain(() => BigInt(this.format(layout)));
        }
        return { parameters: ['...reflect.Value'], isAny: false, call: () => notComputed(name) };
      }
    }
  }
}

/** Methods of times that return a number, and how it is written. */
const numbers: Readonly<Record<string, string>> = { Year: '2006', Day: '2', Hour: '15', Minute: '4', Second: '5' };

function notComputed(name: string): never {
  throw new FunctionError(`${name} of a time is not computed here: use Format`);
}

/** Go's zero time, the first moment of year 1. */
export const zeroTime = new Time(-62_135_596_800n * second);

/** What was read of a time, by the part of the layout. */
type Reading = ReadonlyMap<string, string>;

/** The time that was read; or the name of what is out of range. */
function timeOf(reading: Reading): Time | string {
  const number = (...names: readonly string[]): number | undefined => {
    const text = names.map((name) => reading.get(name)).find((one) => one !== undefined);
    return text === undefined ? undefined : Number(text);
  };
  const short = number('06');
  const year = number('2006') ?? (short === undefined ? 0 : short + (short >= 69 ? 1900 : 2000));
  const name = (reading.get('January') ?? reading.get('Jan'))?.slice(0, 3).toLowerCase();
  const month =
    name === undefined ? (number('01', '1') ?? 1) : months.findIndex((one) => one.toLowerCase().startsWith(name)) + 1;
  const day = number('02', '_2', '2') ?? 1;
  const isPm = (reading.get('PM') ?? reading.get('pm'))?.toUpperCase() === 'PM';
  const twelve = number('03', '3');
  const hours = number('15') ?? (twelve === undefined ? 0 : (twelve % 12) + (isPm ? 12 : 0));
  const [minutes, seconds] = [number('04', '4') ?? 0, number('05', '5') ?? 0];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const problem = [
    [month < 1 || month > 12, 'month'],
    [day < 1 || date.getUTCMonth() !== month - 1, 'day'],
    [hours > 23 || (twelve ?? 0) > 12, 'hour'],
    [minutes > 59, 'minute'],
    [seconds > 59, 'second'],
  ].find(([isOut]) => isOut);
  if (problem !== undefined) {
    return String(problem[1]);
  }
  date.setUTCHours(hours, minutes, seconds);
  const fraction = BigInt((reading.get('.') ?? '').slice(1, 10).padEnd(9, '0'));
  const offset = reading.get('offset');
  const [, sign, east = '0', more = '0'] = /^([+-])([0-9]{2}):?([0-9]{2})?$/.exec(offset ?? '') ?? [];
  const size = (Number(east) * 60 + Number(more)) * (sign === '-' ? -1 : 1);
  const zone = offset === undefined || size === 0 ? 'UTC' : '';
  return new Time(
    BigInt(date.getTime()) * 1_000_000n + fraction - BigInt(size) * minute,
    size,
    reading.get('MST') ?? zone,
  );
}

/**
 * time.Parse, where the local zone is UTC.
 *
 * @throws {FunctionError} with Go's message.
 */
export function parseTime(layout: Bytes, text: Bytes): Time {
  const fail = (message: string): never => {
    throw new FunctionError(`parsing time ${quoted(text)}${message}`);
  };
  const reading = new Map<string, string>();
  let at = 0;
  const take = (part: string, found: string | undefined): string => {
    at += found?.length ?? 0;
    return found ?? fail(` as ${quoted(layout)}: cannot parse ${quoted(text.slice(at))} as ${quoted(part)}`);
  };
  const read = (part: string, shape: string): string => {
    const expression = new RegExp(shape, 'iy');
    expression.lastIndex = at;
    return take(part, expression.exec(text)?.[0]);
  };
  const literal = (expected: string) => take(expected, text.startsWith(expected, at) ? expected : undefined);
  let from = 0;
  for (const { 0: part, index } of layout.matchAll(parts)) {
    literal(layout.slice(from, index));
    from = index + part.length;
    const isFraction = /^[.,]/.test(part);
    const fraction = part[1] === '0' ? `[.,][0-9]{${part.length - 1}}` : '(?:[.,][0-9]+)?';
    const shape = isFraction ? fraction : (shapes[part] ?? (part.length === 2 ? '[0-9]{2}' : '[0-9]{1,2}'));
    reading.set(isFraction ? '.' : part.includes('07') ? 'offset' : part, read(part, shape).trim());
    // Seconds may have a fraction, even if the layout has none.
    if (/^0?5$/.test(part) && !/^[.,][09]/.test(layout.slice(from))) {
      reading.set('.', read(part, fraction));
    }
  }
  literal(layout.slice(from));
  if (at < text.length) {
    fail(`: extra text: ${quoted(text.slice(at))}`);
  }
  const time = timeOf(reading);
  return typeof time === 'string' ? fail(`: ${time} out of range`) : time;
}
