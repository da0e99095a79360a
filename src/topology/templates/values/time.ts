import type { Bytes } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';
import { withoutTrailingZeros } from './numbers.ts';
import { type Callable, Integer, type Operand, Struct, type Value } from './values.ts';

/** A text in an error of Go's package time. */
function quoted(text: Bytes): Bytes {
  const escaped = text.replaceAll(/[^ !#-[\]-\x7f]/g, (byte) =>
    byte === '"' || byte === '\\' ? `\\${byte}` : `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `"${escaped}"`;
}

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
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
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') {
    return 0n;
  }
  if (unsigned === '') {
    throw new FunctionError(`time: invalid duration ${quoted(text)}`);
  }
  let total = 0n;
  const part = /([0-9]*)(?:\.([0-9]*))?([^0-9.]*)/y;
  for (let at = 0; at < unsigned.length; at = part.lastIndex) {
    part.lastIndex = at;
    const [, whole = '', fraction = '', name = ''] = part.exec(unsigned) ?? [];
    if (whole === '' && fraction === '') {
      throw new FunctionError(`time: invalid duration ${quoted(text)}`);
    }
    const unit = units[name];
    if (unit === undefined) {
      const problem = name === '' ? 'missing unit in duration' : `unknown unit ${quoted(name)} in duration`;
      throw new FunctionError(`time: ${problem} ${quoted(text)}`);
    }
    const digits = fraction.slice(0, 18);
    const below = digits === '' ? 0n : (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
    total += (whole.length > 20 ? 2n ** 64n : BigInt(whole || '0')) * unit + below;
    if (total > 2n ** 63n) {
      throw new FunctionError(`time: invalid duration ${quoted(text)}`);
    }
  }
  if (total === 2n ** 63n && !text.startsWith('-')) {
    throw new FunctionError(`time: invalid duration ${quoted(text)}`);
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
  const seconds = `${decimal(size % minute, second)}s`;
  const minutes = size >= minute ? `${(size / minute) % 60n}m` : '';
  const hours = size >= hour ? `${size / hour}h` : '';
  return sign + hours + minutes + seconds;
}

/** A number of a type with names: a month, a day of the week, a duration. */
export class NamedInteger extends Struct {
  readonly type: string;
  readonly kind: 'int' | 'int64';
  readonly #value: bigint;
  readonly #text: Bytes;

  constructor(type: string, value: bigint, text: Bytes, kind: 'int' | 'int64' = 'int') {
    super();
    this.type = type;
    this.kind = kind;
    this.#value = value;
    this.#text = text;
  }

  text(): Bytes {
    return this.#text;
  }

  json(): Value {
    return this.#value;
  }

  fields() {
    return [];
  }

  equals(other: Struct): boolean {
    return other.json() === this.#value;
  }

  method(name: string): Callable | undefined {
    return name === 'String' ? { parameters: [], isAny: false, call: () => this.#text } : undefined;
  }
}

/** What a layout has: each part stands for the same part of its reference time, Mon Jan 2 15:04:05 MST 2006. */
const parts =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2(?!006)|3|4|5|PM|pm|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|[.,](?:0+|9+)(?![0-9])/g;

interface Clock {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  weekday: number;
  yearDay: number;
}

type ClockField = Exclude<keyof Clock, 'nanosecond' | 'weekday'>;

/** The parts of a layout that are numbers: what a text may have there, the field, and its largest value. */
const numberParts: Readonly<Record<string, readonly [shape: RegExp, field: ClockField, max: number]>> = {
  '2006': [/[0-9]{4}/y, 'year', 9_999],
  '01': [/[0-9]{2}/y, 'month', 12],
  '1': [/[0-9]{1,2}/y, 'month', 12],
  '02': [/[0-9]{2}/y, 'day', 99],
  _2: [/ ?[0-9]{1,2}/y, 'day', 99],
  '2': [/[0-9]{1,2}/y, 'day', 99],
  '002': [/[0-9]{3}/y, 'yearDay', 999],
  __2: [/[ 0-9]{2}[0-9]/y, 'yearDay', 999],
  '15': [/[0-9]{1,2}/y, 'hour', 23],
  '03': [/[0-9]{2}/y, 'hour', 12],
  '3': [/[0-9]{1,2}/y, 'hour', 12],
  '04': [/[0-9]{2}/y, 'minute', 59],
  '4': [/[0-9]{1,2}/y, 'minute', 59],
  '05': [/[0-9]{2}/y, 'second', 59],
  '5': [/[0-9]{1,2}/y, 'second', 59],
};

/** A field as a part of a layout writes it. */
function numberText(part: string, field: ClockField, clock: Clock): string {
  const value = clock[field];
  if (field === 'year') {
    return `${value < 0 ? '-' : ''}${String(Math.abs(value)).padStart(4, '0')}`;
  }
  const shown = String(/^0?3$/.test(part) ? ((value + 11) % 12) + 1 : value);
  return /^[_0]|15/.test(part) ? shown.padStart(part.length, part.startsWith('_') ? ' ' : '0') : shown;
}

function dayOfYear(year: number, month: number, day: number): number {
  return Math.round((Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / 86_400_000) + 1;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function offsetText(layout: string, offset: number): string {
  if (layout.startsWith('Z') && offset === 0) {
    return 'Z';
  }
  const size = Math.abs(offset);
  const separator = layout.includes(':') ? ':' : '';
  const hours = two(Math.floor(size / 3600));
  const minutes = two(Math.floor(size / 60) % 60);
  const length = layout.replaceAll(':', '').length;
  return (
    (offset < 0 ? '-' : '+') +
    hours +
    (length > 3 ? separator + minutes : '') +
    (length > 5 ? separator + two(size % 60) : '')
  );
}

function fractionText(layout: string, nanosecond: number): string {
  const digits = String(nanosecond).padStart(9, '0');
  if (layout[1] === '0') {
    return layout[0] + digits.slice(0, layout.length - 1).padEnd(layout.length - 1, '0');
  }
  const cut = withoutTrailingZeros(digits.slice(0, layout.length - 1));
  return cut === '' ? '' : layout[0] + cut;
}

/** A time, as sprig's `toDate` returns it. */
export class Time extends Struct {
  readonly type = 'time.Time';
  readonly kind = 'struct';
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  /** Seconds east of UTC. */
  readonly offset: number;
  readonly zone: string;

  constructor(at: bigint, offset = 0, zone = 'UTC') {
    super();
    this.at = at;
    this.offset = offset;
    this.zone = zone;
  }

  #clock(): Clock {
    const local = this.at + BigInt(this.offset) * second;
    const nanosecond = ((local % second) + second) % second;
    const date = new Date(Number((local - nanosecond) / 1_000_000n));
    const year = date.getUTCFullYear();
    return {
      year,
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
      second: date.getUTCSeconds(),
      nanosecond: Number(nanosecond),
      weekday: date.getUTCDay(),
      yearDay: dayOfYear(year, date.getUTCMonth() + 1, date.getUTCDate()),
    };
  }

  format(layout: Bytes): Bytes {
    const clock = this.#clock();
    const month = months[clock.month - 1] ?? '';
    const weekday = days[clock.weekday] ?? '';
    const texts: Readonly<Record<string, string>> = {
      January: month,
      Jan: month.slice(0, 3),
      Monday: weekday,
      Mon: weekday.slice(0, 3),
      MST: this.zone === '' ? offsetText(this.offset % 3600 === 0 ? '-07' : '-0700', this.offset) : this.zone,
      '06': two(Math.abs(clock.year) % 100),
      PM: clock.hour >= 12 ? 'PM' : 'AM',
      pm: clock.hour >= 12 ? 'pm' : 'am',
    };
    return layout.replaceAll(parts, (part) => {
      const [, field] = numberParts[part] ?? [];
      return field === undefined
        ? (texts[part] ?? (/^[.,]/.test(part) ? fractionText(part, clock.nanosecond) : offsetText(part, this.offset)))
        : numberText(part, field, clock);
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

  #moved(by: bigint): Time {
    return new Time(this.at + by, this.offset, this.zone);
  }

  #dateMoved(years: bigint, monthCount: bigint, dayCount: bigint): Time {
    const clock = this.#clock();
    const from = Date.UTC(2000, 0, 1);
    const target = new Date(from);
    target.setUTCFullYear(
      clock.year + Number(years),
      clock.month - 1 + Number(monthCount),
      clock.day + Number(dayCount),
    );
    if (Number.isNaN(target.getTime())) {
      throw new FunctionError('the date is out of range');
    }
    target.setUTCHours(clock.hour, clock.minute, clock.second);
    const at = BigInt(target.getTime()) * 1_000_000n + BigInt(clock.nanosecond);
    return new Time(at - BigInt(this.offset) * second, this.offset, this.zone);
  }

  method(name: string): Callable | undefined {
    const plain = (value: Operand): Callable => ({ parameters: [], isAny: false, call: () => value });
    const compared = (decide: (other: Time) => Operand): Callable => ({
      parameters: ['time.Time'],
      isAny: false,
      call: ([other]) => decide(other as Time),
    });
    const int64 = (value: bigint) => plain(new Integer('int64', value));
    const clock = this.#clock();
    switch (name) {
      case 'String':
        return plain(this.text());
      case 'Format':
        return { parameters: ['string'], isAny: false, call: ([layout]) => this.format(layout as Bytes) };
      case 'Unix':
        return int64((this.at - (((this.at % second) + second) % second)) / second);
      case 'UnixMilli':
        return int64(this.at / 1_000_000n);
      case 'UnixMicro':
        return int64(this.at / 1_000n);
      case 'UnixNano':
        return int64(this.at);
      case 'Month':
        return plain(new NamedInteger('time.Month', BigInt(clock.month), months[clock.month - 1] ?? ''));
      case 'Weekday':
        return plain(new NamedInteger('time.Weekday', BigInt(clock.weekday), days[clock.weekday] ?? ''));
      case 'IsZero':
        return plain(this.at === zeroTime.at);
      case 'UTC':
        return plain(new Time(this.at));
      case 'Add':
        return { parameters: ['time.Duration'], isAny: false, call: ([by]) => this.#moved(by as bigint) };
      case 'AddDate':
        return {
          parameters: ['int', 'int', 'int'],
          isAny: false,
          call: ([years, monthCount, dayCount]) =>
            this.#dateMoved(years as bigint, monthCount as bigint, dayCount as bigint),
        };
      case 'Sub':
        return compared((other) => {
          const difference = this.at - other.at;
          return new NamedInteger('time.Duration', difference, durationText(difference), 'int64');
        });
      case 'Before':
        return compared((other) => this.at < other.at);
      case 'After':
        return compared((other) => this.at > other.at);
      case 'Equal':
        return compared((other) => this.at === other.at);
      case 'Compare':
        return compared((other) => (this.at < other.at ? -1n : this.at > other.at ? 1n : 0n));
      default: {
        const field = clockMethods[name];
        return field && plain(BigInt(clock[field]));
      }
    }
  }
}

/** Methods of times that return a number. */
const clockMethods: Readonly<Record<string, keyof Clock | undefined>> = Object.assign(Object.create(null), {
  Year: 'year',
  Day: 'day',
  Hour: 'hour',
  Minute: 'minute',
  Second: 'second',
  Nanosecond: 'nanosecond',
  YearDay: 'yearDay',
});

/** Go's zero time, the first moment of year 1. */
export const zeroTime = new Time(-62_135_596_800n * second);

/** What a text may have for the other parts of a layout. */
const otherParts: Readonly<Record<string, RegExp>> = {
  January: new RegExp(months.join('|'), 'iy'),
  Jan: new RegExp(months.map((name) => name.slice(0, 3)).join('|'), 'iy'),
  Monday: new RegExp(days.join('|'), 'iy'),
  Mon: new RegExp(days.map((name) => name.slice(0, 3)).join('|'), 'iy'),
  MST: /UTC|[A-Z]{3,5}|[+-][0-9]{2}/y,
  '06': /[0-9]{2}/y,
  PM: /AM|PM/y,
  pm: /am|pm/y,
};

/** What a text may have for an offset such as -07:00 or Z07. */
const offsetShape = (part: string): RegExp =>
  new RegExp(`${part.startsWith('Z') ? 'Z|' : ''}[+-]${part.slice(1).replaceAll(/[0-9]/g, '[0-9]')}`, 'y');

const fractionDigits = /(?:[.,][0-9]+)?/y;

/** What a part of a layout reads at an index; undefined if it cannot. */
function readPart(part: string, text: Bytes, at: number): string | undefined {
  const [shape] = numberParts[part] ?? [];
  const reader = shape ?? otherParts[part] ?? (/^[.,]/.test(part) ? fractionDigits : offsetShape(part));
  reader.lastIndex = at;
  const read = reader.exec(text)?.[0];
  // Zeros stand for as many digits, nines for any number.
  return read !== undefined && /^[.,]0/.test(part)
    ? read.length < part.length
      ? undefined
      : read.slice(0, part.length)
    : read;
}

/** Seconds of an offset such as +05:30. */
function offsetOf(text: string): number {
  const [hours = '0', minutes = '0', seconds = '0'] = text.replace(/^[+-]/, '').match(/[0-9]{2}/g) ?? [];
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return text.startsWith('-') ? -size : size;
}

/** What was read of a time. */
class Reading {
  year = 0;
  month = -1;
  day = -1;
  yearDay = -1;
  hour = 0;
  minute = 0;
  second = 0;
  nanosecond = 0;
  isPm = false;
  isAm = false;
  offset: number | undefined;
  zone: string | undefined;

  /** @returns what is out of range. */
  take(part: string, text: string): string | undefined {
    const number = Number(text);
    const [, field, max = 0] = numberParts[part] ?? [];
    if (field !== undefined) {
      this[field] = number;
      return number > max || (field === 'month' && number < 1) ? field : undefined;
    }
    if (part === '06') {
      this.year = number >= 69 ? 1900 + number : 2000 + number;
    } else if (part.startsWith('Jan')) {
      this.month = months.findIndex((name) => name.slice(0, 3).toLowerCase() === text.slice(0, 3).toLowerCase()) + 1;
    } else if (/^pm$/i.test(part)) {
      this.isPm = text.toUpperCase() === 'PM';
      this.isAm = !this.isPm;
    } else if (part === 'MST') {
      this.zone = text;
    } else if (/^[.,]/.test(part)) {
      this.nanosecond = Number(text.slice(1, 10).padEnd(9, '0'));
    } else if (!part.startsWith('Mon')) {
      this.offset = text === 'Z' ? 0 : offsetOf(text);
      this.zone ??= text === 'Z' ? 'UTC' : undefined;
    }
    return undefined;
  }

  time(): Time | undefined {
    const hours = this.isPm && this.hour < 12 ? this.hour + 12 : this.isAm && this.hour === 12 ? 0 : this.hour;
    const isLeap = (this.year % 4 === 0 && this.year % 100 !== 0) || this.year % 400 === 0;
    let month = this.month;
    let day = this.day;
    if (this.yearDay >= 0) {
      if (this.yearDay < 1 || this.yearDay > (isLeap ? 366 : 365)) {
        return undefined;
      }
      const date = new Date(Date.UTC(2000, 0, 1));
      date.setUTCFullYear(this.year, 0, this.yearDay);
      month = date.getUTCMonth() + 1;
      day = date.getUTCDate();
    }
    month = month < 0 ? 1 : month;
    day = day < 0 ? 1 : day;
    const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if (day < 1 || day > (lengths[month - 1] ?? 0)) {
      return undefined;
    }
    const date = new Date(0);
    date.setUTCFullYear(this.year, month - 1, day);
    date.setUTCHours(hours, this.minute, this.second);
    const local = BigInt(date.getTime()) * 1_000_000n + BigInt(this.nanosecond);
    if (this.offset !== undefined) {
      const zone = this.offset === 0 ? 'UTC' : (this.zone ?? '');
      return new Time(local - BigInt(this.offset) * second, this.offset, zone);
    }
    return new Time(local, 0, this.zone ?? 'UTC');
  }
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
  const cannot = (at: number, part: string) =>
    fail(` as ${quoted(layout)}: cannot parse ${quoted(text.slice(at))} as ${quoted(part)}`);
  const reading = new Reading();
  let at = 0;
  let from = 0;
  const literal = (expected: string): void => {
    for (let index = 0; index < expected.length; ) {
      const isSpace = expected[index] === ' ';
      if (text[at] !== expected[index] && !(isSpace && at === text.length)) {
        cannot(at, expected);
      }
      // Any number of spaces stands for any number.
      do {
        index++;
      } while (isSpace && expected[index] === ' ');
      do {
        at++;
      } while (isSpace && text[at] === ' ');
      at = Math.min(at, text.length);
    }
  };
  for (const found of layout.matchAll(parts)) {
    const [part] = found;
    literal(layout.slice(from, found.index));
    from = found.index + part.length;
    const read = readPart(part, text, at);
    if (read === undefined) {
      cannot(at, part);
      break;
    }
    const outOfRange = reading.take(part, read.trim());
    at += read.length;
    if (outOfRange !== undefined) {
      fail(`: ${outOfRange} out of range`);
    }
    // Seconds may have a fraction, even if the layout has none.
    if (/^0?5$/.test(part) && !/^[.,][09]/.test(layout.slice(from))) {
      const fraction = /[.,][0-9]+/y;
      fraction.lastIndex = at;
      const digits = fraction.exec(text)?.[0];
      if (digits !== undefined) {
        reading.take('.9', digits);
        at += digits.length;
      }
    }
  }
  literal(layout.slice(from));
  if (at < text.length) {
    fail(`: extra text: ${quoted(text.slice(at))}`);
  }
  return reading.time() ?? fail(': day out of range');
}
