import { goDurationMs } from '../../kubernetes/index.ts';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** The fields of a schedule: bounds, and the names that stand for numbers, beginning with the lower bound. */
const fields = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: months },
  { name: 'day of week', min: 0, max: 6, names: days },
];

const macros = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

function isPart(part: string, { min, max, names = [] }: (typeof fields)[number]): boolean {
  const [range = '', step, ...more] = part.split('/');
  const bounds = ['*', '?'].includes(range)
    ? [min, max]
    : range.split('-').map((text) => {
        const index = names.indexOf(text.toLowerCase());
        return index >= 0 ? index + min : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      });
  const [from = Number.NaN, to = from] = bounds;
  const isStep = step === undefined || /^0*[1-9]\d{0,8}$/.test(step);
  return more.length === 0 && bounds.length <= 2 && from >= min && to <= max && from <= to && isStep;
}

/** Why a text is not the schedule of a CronJob (github.com/robfig/cron/v3, ParseStandard); undefined if it is one. */
export function scheduleProblem(text: string): string | undefined {
  if (text.startsWith('TZ=') || text.startsWith('CRON_TZ=')) {
    return 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  }
  if (text.startsWith('@')) {
    const isMacro = macros.includes(text) || (text.startsWith('@every ') && goDurationMs(text.slice(7)) !== undefined);
    return isMacro ? undefined : `unrecognized descriptor: ${text}`;
  }
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    return `expected exactly ${fields.length} fields, found ${parts.length}`;
  }
  const wrong = fields.find((field, index) => !(parts[index] ?? '').split(',').every((part) => isPart(part, field)));
  return wrong === undefined ? undefined : `the ${wrong.name} must be within ${wrong.min} and ${wrong.max}`;
}
