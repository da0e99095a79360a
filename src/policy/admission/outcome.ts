import type { AdmissionResponse } from '../../kubernetes/index.ts';
import type { FactKind } from '../facts/facts.ts';

/** How current the facts about the cluster are at the time of a decision. */
export interface Knowledge {
  /** The age of the oldest known part, in milliseconds; undefined if nothing is known. */
  ageMs: number | undefined;
  unknown: readonly FactKind[];
}

/** The result of a review: the response, and what logs and metrics need. */
export interface AdmissionOutcome {
  response: AdmissionResponse;
  verdict: 'allowed' | 'warned' | 'denied' | 'malformed';
  deniedBy: string[];
  warnedBy: string[];
  /** How current the facts about the cluster were; absent if facts are not used. */
  knowledge?: Knowledge;
}
