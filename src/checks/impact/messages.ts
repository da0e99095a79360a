import type { Release } from '../../runtimehooks/index.ts';
import type { Change } from './impact.ts';
import type { Verdict } from './permission.ts';
import { planCommand } from './warnings.ts';

export interface ThreadSettings {
  kubeconfig: { kubeconfig?: string | undefined; context?: string | undefined };
  clusterApiVersion: Release | undefined;
  /** Whether replacements need a permission in namespaces with the label. */
  denies: boolean;
  updatesInPlace: boolean;
  callsExtensions: boolean;
  /** The number of the newest review: older ones are dropped. */
  newest: Int32Array<SharedArrayBuffer>;
}

export interface Question extends Change {
  number: number;
  /** On the clock of `monotonicMs`. */
  deadlineMs: number;
  /** Whether replacements need a permission: its plan is not cut short for newer writes. */
  isGuarded: boolean;
  isDryRun: boolean;
}

export const reasons = ['late', 'bug', 'reading', 'extension', 'plan'] as const;
export type Reason = (typeof reasons)[number];

export interface Answer extends Verdict {
  number: number;
  lines: string[];
  replaced: number;
  deleted: number;
  /** How many Clusters use the object, and of how many the plan was made. */
  clusters: number;
  planned: number;
  unknown: Reason | undefined;
}

export type FromThread =
  | { is: 'ready' }
  | { is: 'answer'; answer: Answer }
  | { is: 'bug'; error: string; stack: string[] }
  | { is: 'problem'; resource: string; problem: string | undefined };

export const noPlan = {
  late: `the webhook had no plan in time: ${planCommand}`,
  bug: 'the plan failed, which is a bug of extensionconfig-webhook (its log has more)',
} as const;

/** An answer without a plan. @param why the objects cannot be used, if that is the reason. */
export const unplanned = (number: number, unknown: 'late' | 'bug' | 'reading', why?: string): Answer => ({
  ...{ number, replaced: 0, deleted: 0, clusters: 0, planned: 0, hash: undefined, deniedIn: [], undecidedIn: [] },
  lines: [`what happens to Machines is not known: ${unknown === 'reading' ? why : noPlan[unknown]}`],
  unknown,
});

/** Milliseconds of a clock that all threads share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
