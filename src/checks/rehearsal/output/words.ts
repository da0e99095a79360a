import { count, printable } from '../../../base/index.ts';
import type { SimulatedEvent } from '../cluster/effects.ts';
import type { CallEntry } from '../record.ts';

/** Simulated time since the simulation began, as `0:03:00`. */
export function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** The part of a request that matters to readers: versions, or the machine. */
export function argumentsText(entry: CallEntry): string {
  const { kubernetesVersion, fromKubernetesVersion, toKubernetesVersion, machine } = entry;
  if (machine !== undefined) {
    return printable(machine);
  }
  if (kubernetesVersion !== undefined) {
    return printable(kubernetesVersion);
  }
  return fromKubernetesVersion === undefined && toKubernetesVersion === undefined
    ? ''
    : printable(`${fromKubernetesVersion ?? ''} → ${toKubernetesVersion ?? ''}`);
}

/** The upgrade steps in a request; empty if there are none. */
export function stepsText({ controlPlaneUpgrades: controlPlane, workersUpgrades: workers }: CallEntry): string {
  const parts = [
    controlPlane === undefined ? '' : `control plane ${controlPlane.join(' ')}`,
    workers === undefined ? '' : `workers ${workers.join(' ')}`,
  ];
  return printable(parts.filter((part) => part !== '').join(', '));
}

/** How a call ended, in a word. */
export type CallVerdict = 'passed' | 'blocked' | 'failed' | 'ignored';

export function verdictOf({ call }: CallEntry): CallVerdict {
  if (call.status !== 'Success') {
    return call.status === 'Ignored' ? 'ignored' : 'failed';
  }
  return call.retryAfterSeconds === 0 ? 'passed' : 'blocked';
}

/** A duration: `90s`, `5m`, `1h30m`. */
function lengthText(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (seconds < 120) {
    return `${seconds}s`;
  }
  return `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${rest > 0 ? `${rest}s` : ''}`;
}

/** Details of an answer besides its verdict: how long it blocks, its message, the error. */
function detailText(entry: CallEntry): string {
  const { message, retryAfterSeconds, error } = entry.call;
  const details: Record<CallVerdict, string> = {
    passed: message,
    blocked: `for ${lengthText(retryAfterSeconds)}${message === '' ? '' : `: ${message}`}`,
    failed: error,
    ignored: `by failurePolicy Ignore: ${error}`,
  };
  return printable(details[verdictOf(entry)]);
}

/** The verdict on a call, with details. */
export function answerText(entry: CallEntry): string {
  const [verdict, detail] = [verdictOf(entry), detailText(entry)];
  const colon = verdict === 'passed' || verdict === 'failed' ? ': ' : ' ';
  return detail === '' ? verdict : `${verdict}${colon}${detail}`;
}

/** What happens to a control plane, and to a group of workers. */
const states = {
  creating: ['is created at', 'are created at'],
  upgrading: ['upgrades to', 'upgrade to'],
  ready: ['is at', 'are at'],
  gone: ['is gone; it was at', 'are gone; they were at'],
} as const;

/** An event as one line; conditions and templates have further lines. */
export function eventText(event: SimulatedEvent): string {
  switch (event.kind) {
    case 'user':
      return printable(`the user ${event.text}`);
    case 'condition':
      return printable(`TopologyReconciled ${event.status} ${event.reason}`);
    case 'control-plane':
      return printable(`control plane ${event.name} ${states[event.state][0]} ${event.version}`);
    case 'worker':
      return printable(`workers ${event.group} ${states[event.state][1]} ${event.version}`);
    case 'machine':
      return printable(`Machine ${event.name} is ${event.state === 'gone' ? 'gone' : 'created'}`);
    case 'pending-hooks':
      return printable(`pending hooks: ${event.hooks === '' ? 'none' : event.hooks}`);
    case 'plan':
      return printable(
        `plan: control plane ${event.controlPlane.join(' ') || '–'}, workers ${event.workers.join(' ') || '–'}`,
      );
    case 'templates':
      return `${count(event.changes.length, 'template')} ${event.changes.length === 1 ? 'is' : 'are'} patched${event.isFirst ? '' : ' differently'}`;
    case 'fault':
      return printable(`fault: ${event.text}`);
    case 'finding':
      return printable(`${event.severity}: ${event.text}; ${event.remedy}`);
  }
}

const isRoundHook = (hook: string): boolean => hook === 'GeneratePatches' || hook === 'ValidateTopology';

/**
 * Tells which calls are worth showing: `again` is identical to the one before, and `hidden` one of a hook that is called
 * in every reconcile, with the same answer as the last time.
 */
export class Runs {
  #last = '';
  readonly #rounds = new Map<string, string>();

  of(entry: CallEntry): 'new' | 'again' | 'hidden' {
    const [answer, round] = [answerText(entry), `${entry.hook} ${entry.call.handler}`];
    if (isRoundHook(entry.hook) && this.#rounds.get(round) === answer) {
      return 'hidden';
    }
    this.#rounds.set(round, answer);
    const key = JSON.stringify([round, argumentsText(entry), answer]);
    const isAgain = key === this.#last;
    this.#last = key;
    return isAgain ? 'again' : 'new';
  }
}
