import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';
import { parsedInt64, withoutTrailingZeros } from '../values/numbers.ts';
import { Integer, type Operand, Struct, type TemplateFunction, type Value } from '../values/values.ts';
import { define, type Functions, ignoring } from './define.ts';

/** Nanoseconds. */
const second = 1_000_000_000n;
const minute = 60n * second;
const hour = 60n * minute;

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
function parseDuration(text: Bytes): bigint {
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

/** A duration in whole seconds as Go prints it. */
function durationText(seconds: bigint): Bytes {
  const size = seconds < 0n ? -seconds : seconds;
  const minutes = size >= 60n ? `${(size / 60n) % 60n}m` : '';
  const hours = size >= 3_600n ? `${size / 3_600n}h` : '';
  return `${seconds < 0n ? '-' : ''}${hours}${minutes}${size % 60n}s`;
}

/** What a layout has: each part stands for the same part of its reference time, Jan 2 15:04:05 2006. */
const parts = /2006|0[1245]|15|[1245]|[-Z]07(?::?00)?/g;

/** What a text may have for a part of a layout. */
function shapeOf(part: string): string {
  const [, sign, colon = '', minutes] = /^([-Z])07(:?)(00)?$/.exec(part) ?? [];
  if (sign !== undefined) {
    return `${sign === 'Z' ? 'Z|' : ''}[+-][0-9]{2}${colon}${minutes === undefined ? '' : '[0-9]{2}'}`;
  }
  return part === '15' || part.length === 1 ? '[0-9]{1,2}' : `[0-9]{${part.length}}`;
}

/** A time, as sprig's `toDate` returns it. It is printed in UTC. */
export class Time extends Struct {
  readonly type = 'time.Time';
  /** Nanoseconds since 1970. */
  readonly at: bigint;

  constructor(at: bigint) {
    super();
    this.at = at;
  }

  /** Whole seconds since 1970. */
  unix(): bigint {
    return (this.at - BigInt.asUintN(64, ((this.at % second) + second) % second)) / second;
  }

  /** As a layout of numbers has it. */
  format(layout: Bytes): Bytes {
    checkLayout(layout);
    const iso = new Date(Number(this.unix()) * 1_000).toISOString();
    const [, year = '', month = '', day = '', hours = '', minutes = '', seconds = ''] =
      /^(.*)-(..)-(..)T(..):(..):(..)/.exec(iso) ?? [];
    const texts: Readonly<Record<string, string>> = {
      '2006': year,
      '01': month,
      '02': day,
      '15': hours,
      '04': minutes,
      '05': seconds,
    };
    return layout.replaceAll(
      parts,
      (part) =>
        texts[part] ??
        texts[`0${part}`]?.replace(/^0/, '') ??
        (part.startsWith('Z') ? 'Z' : part.replace('-', '+').replace('7', '0')),
    );
  }

  text(): Bytes {
    return `${this.format('2006-01-02 15:04:05')}${this.#fraction()} +0000 UTC`;
  }

  #fraction(): string {
    const digits = withoutTrailingZeros(String(this.at - this.unix() * second).padStart(9, '0'));
    return digits === '' ? '' : `.${digits}`;
  }

  override json(): Value {
    return `${this.format('2006-01-02T15:04:05')}${this.#fraction()}Z`;
  }

  override method(name: string): TemplateFunction {
    const plain = (call: () => Operand): TemplateFunction => ({ parameters: [], call });
    switch (name) {
      case 'String':
        return plain(() => this.text());
      case 'Unix':
        return plain(() => new Integer('int64', this.unix()));
      case 'IsZero':
        return plain(() => this.at === zeroTime.at);
      case 'Format':
        return { parameters: ['string'], call: ([layout]) => this.format(layout as Bytes) };
      default:
        return { parameters: ['...reflect.Value'], call: () => notComputed(name) };
    }
  }
}

/** @throws {FunctionError} for a layout with names, hours of 12, or fractions. */
function checkLayout(layout: Bytes): void {
  if (/Jan|Mon|MST|PM|pm|_|[0-9]/.test(layout.replaceAll(parts, ''))) {
    throw new FunctionError(`the layout ${quoted(layout)} of times is not known here`);
  }
}

function notComputed(name: string): never {
  throw new FunctionError(`${name} of a time is not computed here: use Format`);
}

/** Go's zero time, the first moment of year 1. */
const zeroTime = new Time(-62_135_596_800n * second);

/** The time of what was read by the part of the layout; or the name of what is out of range. */
function timeOf(reading: ReadonlyMap<string, string>): Time | string {
  const number = (part: string, fallback = 0) => Number(reading.get(part) ?? reading.get(`0${part}`) ?? fallback);
  const [month, day] = [number('1', 1), number('2', 1)];
  const [hours, minutes, seconds] = [number('15'), number('4'), number('5')];
  const date = new Date(0);
  date.setUTCFullYear(number('2006'), month - 1, day);
  const problem = [
    [month < 1 || month > 12, 'month'],
    [day < 1 || date.getUTCMonth() !== month - 1, 'day'],
    [hours > 23, 'hour'],
    [minutes > 59, 'minute'],
    [seconds > 59, 'second'],
  ].find(([isOut]) => isOut);
  if (problem !== undefined) {
    return String(problem[1]);
  }
  date.setUTCHours(hours, minutes, seconds);
  const fraction = BigInt((reading.get('.') ?? '').slice(1, 10).padEnd(9, '0'));
  const [, sign, east = '0', more = '0'] = /^([+-])([0-9]{2}):?([0-9]{2})?$/.exec(reading.get('offset') ?? '') ?? [];
  const offset = BigInt(Number(east) * 60 + Number(more)) * minute;
  return new Time(BigInt(date.getTime()) * 1_000_000n + fraction + (sign === '-' ? offset : -offset));
}

/**
 * time.Parse, where the local zone is UTC.
 *
 * @throws {FunctionError} with Go's message, and for a layout with names, hours of 12, or fractions.
 */
function parseTime(layout: Bytes, text: Bytes): Time {
  const fail = (message: string): never => {
    throw new FunctionError(`parsing time ${quoted(text)}${message}`);
  };
  checkLayout(layout);
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
    reading.set(part.includes('07') ? 'offset' : part, read(part, shapeOf(part)));
    // Seconds may have a fraction, even if the layout has none.
    if (/^0?5$/.test(part)) {
      reading.set('.', read(part, '(?:[.,][0-9]+)?'));
    }
  }
  literal(layout.slice(from));
  if (at < text.length) {
    fail(`: extra text: ${quoted(text.slice(at))}`);
  }
  const time = timeOf(reading);
  return typeof time === 'string' ? fail(`: ${time} out of range`) : time;
}

function now(): Time {
  return new Time(BigInt(Date.now()) * 1_000_000n);
}

/** A number that Go declares as an int64; an int is none. */
function int64Of(value: Value): bigint | undefined {
  return value instanceof Integer && value.type === 'int64' ? value.value : undefined;
}

function seconds(value: Value): bigint {
  if (typeof value === 'string') {
    return parsedInt64(value);
  }
  return int64Of(value) ?? 0n;
}

function durationOf(value: Value): bigint {
  if (typeof value === 'string') {
    return ignoring(0n, () => parseDuration(value));
  }
  return value instanceof Time ? now().at - value.at : (int64Of(value) ?? 0n);
}

const day = 24n * hour;
const roundingUnits: readonly [bigint, string][] = [
  [365n * day, 'y'],
  [30n * day, 'mo'],
  [day, 'd'],
  [hour, 'h'],
  [minute, 'm'],
  [second, 's'],
];

function roundedDuration(value: Value): Bytes {
  const duration = durationOf(value);
  const size = duration < 0n ? -duration : duration;
  const [unit, name] = roundingUnits.find(([one]) => size > one) ?? [1n, ''];
  return name === '' ? '0s' : `${size / unit}${name}`;
}

function ago(value: Value): Bytes {
  const seconds = value instanceof Time ? value.unix() : typeof value === 'bigint' ? value : int64Of(value);
  return durationText(seconds === undefined ? 0n : now().unix() - seconds);
}

const modify = define(['string', 'time'], ([text, time]) => new Time((time as Time).at + parseDuration(text)));

/** Functions of sprig for times that are in its hermetic set. */
export const dateFunctions: Functions = {
  ago: define(['any'], ([value]) => ago(value)),
  duration: define(['any'], ([value]) => durationText(seconds(value))),
  durationRound: define(['any'], ([value]) => roundedDuration(value)),
  must_date_modify: modify,
  mustDateModify: modify,
  mustToDate: define(['string', 'string'], ([layout, text]) => parseTime(layout, text)),
  toDate: define(['string', 'string'], ([layout, text]) => ignoring(zeroTime, () => parseTime(layout, text))),
  unixEpoch: define(['time'], ([time]) => String((time as Time).unix())),
};
