import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { AdmissionRequest, AdmissionResponse } from '../../kubernetes/index.ts';
import type { FactKind, Facts } from '../facts/facts.ts';
import type { Finding } from '../rules/rule.ts';

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
  /** The request, reduced to what is needed, for the thread that has the facts to decide on it. */
  handedBack?: AdmissionRequest;
  /** The extension server to probe before responding; absent if none is to be probed. */
  probe?: PendingProbe;
}

export interface PendingProbe {
  config: ExtensionConfig;
  /** The facts by which the outcome was decided, for the CA in a Secret; absent if facts are not used. */
  facts: Facts | undefined;
  conclude(findings: readonly Finding[]): AdmissionOutcome;
}
