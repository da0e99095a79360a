import { type Bytes, quoted, textOf } from '../../../base/go-text/index.ts';
import { goDurationMs, goSecondsText, own } from '../../../kubernetes/index.ts';
import { FunctionError, NotComputed } from '../budget.ts';
import { parsedInt64, withoutTrailingZeros } from '../values/numbers.ts';
import { Integer, integerOf, operandType, Struct, type TemplateFunction, type Value } from '../values/values.ts';
import { define, type Functions, ignoring } from './define.ts';

/** Nanoseconds. */
const second = 1_000_000_000n;
const minute = 60n * second;
const hour = 60n * minute;

/** A duration such as 1h30m in nanoseconds; undefined for another text. */
function nanosecondsOf(text: Bytes): bigint | undefined {
  const ms = goDurationMs(textOf(text));
  return ms === undefined || Math.abs(ms) >= 2 ** 63 / 1e6 ? undefined : BigInt(Math.round(ms * 1e6));
}

/** A duration in whole seconds as Go prints it. */
const durationText = (seconds: bigint): Bytes =>
  `${seconds < 0n ? '-' : ''}${goSecondsText(Math.abs(Number(seconds)))}`;

/** What a layout may have, and what a text has for it: each part stands for itself in Jan 2 15:04:05 2006. */
const shapes: Readonly<Record<string, string>> = {
  '2006': '[0-9]{4}',
  '01': '[0-9]{2}',
  '02': '[0-9]{2}',
  '15': '[0-9]{1,2}',
  '04': '[0-9]{2}',
  '05': '[0-9]{2}',
  'Z07:00': 'Z|[+-][0-9]{2}:[0-9]{2}',
  '-07:00': '[+-][0-9]{2}:[0-9]{2}',
  '-0700': '[+-][0-9]{4}',
};
const parts = new RegExp(Object.keys(shapes).join('|'), 'g');

/** A time, as sprig's `toDate` returns it. It is printed in UTC. */
class Time extends Struct {
  readonly type = 'time.Time';
  /** Nanoseconds since 1970. */
  readonly at: bigint;

  constructor(at: bigint) {
    super();
    this.at = at;
  }

  /** Whole seconds since 1970. */
  unix(): bigint {
    return (this.at - (((this.at % second) + second) % second)) / second;
  }

  #shown(separator: string): string {
    const whole = new Date(Number(this.unix()) * 1_000).toISOString().slice(0, -5).replace('T', separator);
    const digits = withoutTrailingZeros(String(this.at - this.unix() * second).padStart(9, '0'));
    return digits === '' ? whole : `${whole}.${digits}`;
  }

  text(): Bytes {
    return `${this.#shown(' ')} +0000 UTC`;
  }

  override json(): Value {
    return `${this.#shown('T')}Z`;
  }

  format(layout: Bytes): Bytes {
    checkLayout(layout);
    const [, year = '', month = '', day = '', hours = '', minutes = '', seconds = ''] =
      /^(.*)-(..)-(..)T(..):(..):(..)/.exec(this.#shown('T')) ?? [];
    const texts: Readonly<Record<string, string>> = {
      '2006': year,
      '01': month,
      '02': day,
      '15': hours,
      '04': minutes,
      '05': seconds,
    };
    const zone = (part: string) => (part.startsWith('Z') ? 'Z' : part.replace('-', '+').replace('7', '0'));
    return layout.replaceAll(parts, (part) => own(texts, part) ?? zone(part));
  }

  override method(name: string): TemplateFunction {
    switch (name) {
      case 'Unix':
        return { parameters: [], call: () => new Integer('int64', this.unix()) };
      case 'Format':
        return { parameters: ['string'], call: ([layout]) => this.format(layout as Bytes) };
      default:
        return { parameters: [], rest: operandType, call: () => notComputed(`${name} of a time is not computed here`) };
    }
  }
}

function notComputed(why: string): never {
  throw new NotComputed(why);
}

/** @throws {NotComputed} for a layout with names, hours of 12, fractions, or numbers without leading zeros. */
function checkLayout(layout: Bytes): void {
  if (/Jan|Mon|MST|PM|pm|_|[0-9]/.test(layout.replaceAll(parts, ''))) {
    notComputed(`the layout ${quoted(layout)} of times is not read here`);
  }
}

/** Go's zero time, the first moment of year 1. */
const zeroTime = new Time(-62_135_596_800n * second);

/** The time of what was read by the part of the layout; or the name of what is out of range. */
function timeOf(reading: ReadonlyMap<string, string>): Time | string {
  const number = (part: string, fallback = 0) => Number(reading.get(part) ?? fallback);
  const [month, day] = [number('01', 1), number('02', 1)];
  const [hours, minutes, seconds] = [number('15'), number('04'), number('05')];
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
  const [, sign, east = '0', more = '0'] = /^([+-])([0-9]{2}):?([0-9]{2})$/.exec(reading.get('offset') ?? '') ?? [];
  const offset = BigInt(Number(east) * 60 + Number(more)) * minute;
  return new Time(BigInt(date.getTime()) * 1_000_000n + fraction + (sign === '-' ? offset : -offset));
}

/**
 * time.Parse, where the local zone is UTC.
 *
 * @throws {FunctionError} with Go's message.
 * @throws {NotComputed} as `checkLayout`.
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
  const read = (part: string, shape = shapes[part] as string): string => {
    const expression = new RegExp(shape, 'y');
    expression.lastIndex = at;
    return take(part, expression.exec(text)?.[0]);
  };
  const literal = (expected: string) => take(expected, text.startsWith(expected, at) ? expected : undefined);
  let from = 0;
  for (const { 0: part, index } of layout.matchAll(parts)) {
    literal(layout.slice(from, index));
    from = index + part.length;
    reading.set(part.includes('07') ? 'offset' : part, read(part));
    // Seconds may have a fraction, even if the layout has none.
    if (part === '05') {
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

/** A number that Go declares as an int64; an int is none. */
function int64Of(value: Value): bigint | undefined {
  return value instanceof Integer && value.type === 'int64' ? value.value : undefined;
}

function seconds(value: Value): bigint {
  return typeof value === 'string' ? parsedInt64(value) : (int64Of(value) ?? 0n);
}

/** Times since another one change with each reconcile. */
const sinceThen = 'the time that has passed is not computed here';

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
  if (value instanceof Time) {
    notComputed(sinceThen);
  }
  const duration = (typeof value === 'string' ? nanosecondsOf(value) : int64Of(value)) ?? 0n;
  const size = duration < 0n ? -duration : duration;
  const [unit, name] = roundingUnits.find(([one]) => size > one) ?? [1n, ''];
  return name === '' ? '0s' : `${size / unit}${name}`;
}

const modify = define(['string', 'time'], ([text, time]) => {
  const duration = nanosecondsOf(text);
  if (duration === undefined) {
    throw /^[+-]?[0-9.]/.test(text)
      ? new NotComputed(`the duration ${quoted(text)} is not read here`)
      : new FunctionError(`time: invalid duration ${quoted(text)}`);
  }
  return new Time((time as Time).at + duration);
});

/** Functions of sprig for times that are in its hermetic set. */
export const dateFunctions: Functions = {
  ago: define(['any'], ([value]) =>
    value instanceof Time || integerOf(value) !== undefined ? notComputed(sinceThen) : '0s',
  ),
  duration: define(['any'], ([value]) => durationText(seconds(value))),
  durationRound: define(['any'], ([value]) => roundedDuration(value)),
  must_date_modify: modify,
  mustDateModify: modify,
  mustToDate: define(['string', 'string'], ([layout, text]) => parseTime(layout, text)),
  toDate: define(['string', 'string'], ([layout, text]) => ignoring(zeroTime, () => parseTime(layout, text))),
  unixEpoch: define(['time'], ([time]) => String((time as Time).unix())),
};
