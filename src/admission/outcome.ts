import type { FactKind } from '../facts/index.ts';
import type { AdmissionResponse } from '../kubernetes/index.ts';

/** How much is known about the cluster at the time of a decision. */
export interface Knowledge {
  /** The age of the oldest part that is known, in milliseconds; undefined when nothing is. */
  ageMs: number | undefined;
  /** The kinds of which nothing is known. */
  unknown: readonly FactKind[];
}

/** The result of a review: the response, and what logs and metrics need. */
export interface AdmissionOutcome {
  response: AdmissionResponse;
  verdict: 'allowed' | 'warned' | 'denied' | 'malformed';
  /** Ids of the rules that denied the request, each once. */
  deniedBy: string[];
  /** Ids of the rules that warned, each once. */
  warnedBy: string[];
  /** How much was known about the cluster; absent when nothing ever is. */
  knowledge?: Knowledge;
}
