import { formatFieldPath, objectText } from '../../kubernetes/index.ts';
import type { GroupChange } from '../world/groups.ts';
import type { Cause, Problem } from '../world/plan-document.ts';
import type { UpdateAnswer } from './in-place.ts';

export const machinesText = (count: number): string => `${count} Machine${count === 1 ? '' : 's'}`;

/** `a`, `a and b`, `a, b and c`. */
export const listText = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;

const times = ['', 'once', 'twice'];

export const distinct = (causes: readonly Cause[]): Cause[] => [
  ...new Map(causes.map((cause) => [JSON.stringify(cause), cause])).values(),
];

/** The steps of an upgrade, if there are several. */
export function stepsText({ versions }: GroupChange, what = 'replaced'): string[] {
  const steps = versions.length - 1;
  return steps < 2 ? [] : [`${what} ${times[steps] ?? `${steps} times`}: ${versions.join(' → ')}`];
}

/** Machines that are replaced or wait whether the change is made or not; with empty names if those are not known. */
export function waitingProblems(
  machines: readonly { name: string; causes: readonly Cause[] }[],
  isOnDelete: boolean,
): Problem[] {
  if (machines.length === 0) {
    return [];
  }
  // Where a value comes from is known only of what the change itself writes.
  const values = machines.flatMap((machine) => machine.causes).map(({ from: _from, ...cause }): Cause => cause);
  const names = machines.map(({ name }) => name).filter((name) => name !== '');
  const which = names.length === 0 ? '' : ` (${listText(names)})`;
  const verb = machines.length === 1 ? 'is' : 'are';
  const text = `${machinesText(machines.length)}${which} ${verb} not up to date already, without this change`;
  const remedy = machines.length === 1 ? 'it stays until you delete it' : 'they stay until you delete them';
  return [{ text, ...(isOnDelete && { remedy: `${remedy} (OnDelete)` }), causes: distinct(values) }];
}

function uncoveredTexts(answers: readonly UpdateAnswer[]): string[] {
  const texts = answers.flatMap((answer) =>
    answer.is === 'uncovered'
      ? answer.fields.map(({ object, differences }) => {
          const fields = differences.map(({ path }) => formatFieldPath(path));
          return `${answer.handler} does not cover ${listText(fields)} of the ${objectText(object).split(' ')[0]}`;
        })
      : [],
  );
  return [...new Set(texts)];
}

/** Updates in place in words; `avoid` would keep the Machine that is replaced all the same. */
export function inPlaceTexts(
  answers: readonly UpdateAnswer[],
  updated: number,
  replaced: number,
  avoid: string,
): string[] {
  const handler = answers.find((answer) => answer.is === 'covered')?.handler;
  const isAllCovered = answers.every((answer) => answer.is === 'covered' || answer.is === 'none');
  return [
    ...(updated > 0 && handler !== undefined ? [`${machinesText(updated)} updated in place by ${handler}`] : []),
    ...uncoveredTexts(answers),
    ...(handler !== undefined && replaced > 0 && isAllCovered
      ? [
          `${machinesText(replaced)} replaced nevertheless: a new one comes first, so that none is missing; ${avoid} avoids this`,
        ]
      : []),
  ];
}

/** What keeps a rollout from being made. */
export function failureIn(answers: readonly UpdateAnswer[]): Problem | undefined {
  const failed = answers.find((answer) => answer.is === 'failed');
  return failed && { text: failed.error };
}

/** The answer for Machines that nobody but a user deletes. @param names empty for those that are not known. */
export function waitingForDeletion(names: readonly string[]) {
  const wait = names.length === 1 ? 'stays until it is' : 'stay until they are';
  const manner = [
    `${machinesText(names.length)} ${wait} deleted; the next one is made as the change wants it (OnDelete)`,
  ];
  const replaces = names.includes('') ? undefined : [...names];
  return { verdict: 'onDelete' as const, replaces, manner };
}
