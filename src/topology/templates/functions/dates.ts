import type { Bytes } from '../../../base/go-text/index.ts';
import { parsedInt64 } from '../values/numbers.ts';
import { durationText, hour, minute, parseDuration, parseTime, second, Time, zeroTime } from '../values/time.ts';
import { Integer, type Value } from '../values/values.ts';
import { define, type Functions, ignoring } from './define.ts';

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

const modify = define(['string', 'time'], ([text, time]) => new Time(time.at + parseDuration(text)));

/** Functions of sprig for times that are in its hermetic set. */
export const dateFunctions: Functions = {
  ago: define(['any'], ([value]) => ago(value)),
  duration: define(['any'], ([value]) => durationText(seconds(value))),
  durationRound: define(['any'], ([value]) => roundedDuration(value)),
  must_date_modify: modify,
  mustDateModify: modify,
  mustToDate: define(['string', 'string'], ([layout, text]) => parseTime(layout, text)),
  toDate: define(['string', 'string'], ([layout, text]) => ignoring(zeroTime, () => parseTime(layout, text))),
  unixEpoch: define(['time'], ([time]) => String(time.unix())),
};
