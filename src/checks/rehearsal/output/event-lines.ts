import { type Paint, printable } from '../../../base/index.ts';
import type { TemplateChange } from '../cluster/effects.ts';
import type { EventEntry } from '../record.ts';
import { diffLines } from './diff.ts';
import { clockText, eventText } from './words.ts';

/** Indentation of lines without a time. */
export const indent = ' '.repeat(11);

/** A line with its time. */
export function line(at: number, text: string): string {
  return `  ${clockText(at).padStart(7)}  ${text}\n`;
}

/** A template that was changed by patches, with its diff. */
function templateLines(change: TemplateChange, paint: Paint): string {
  const { holder, template, ignored } = change;
  return [
    `${indent}${printable(template)} (${printable(holder)})\n`,
    ...diffLines(change).map((text) => {
      const style = text.startsWith('+') ? 'green' : text.startsWith('-') ? 'red' : 'dim';
      return `${indent}  ${paint(style, text)}\n`;
    }),
    ...ignored.map(
      (path) => `${indent}  ${paint('yellow', `! Cluster API ignores the change to ${printable(path)}`)}\n`,
    ),
  ].join('');
}

/** Events other than calls, as lines of text. */
export function eventLines({ event, at }: EventEntry, paint: Paint): string {
  const text = eventText(event);
  switch (event.kind) {
    case 'object-condition':
    case 'condition': {
      const lines = event.message === '' ? [] : event.message.split('\n');
      const [first = '', ...more] = lines.map(printable);
      const style = event.reason === 'ReconcileFailed' ? 'red' : 'cyan';
      return [
        `${indent}${paint(style, `${text}${first === '' ? '' : `: ${first}`}`)}\n`,
        ...more.map((one) => `${indent}${paint(style, one)}\n`),
      ].join('');
    }
    case 'pending-hooks':
    case 'plan':
      return `${indent}${paint('dim', text)}\n`;
    case 'templates':
      return [line(at, text), ...event.changes.map((change) => templateLines(change, paint))].join('');
    case 'finding':
      return line(at, paint(event.severity === 'error' ? 'red' : 'yellow', text));
    default:
      return line(at, event.kind === 'fault' ? paint('yellow', text) : text);
  }
}
