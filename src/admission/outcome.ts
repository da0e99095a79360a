import type { ExtensionConfig } from '../api/index.ts';
import type { FactKind } from '../facts/index.ts';
import type { AdmissionRequest, AdmissionResponse } from '../kubernetes/index.ts';
import type { Finding } from '../rules/index.ts';

/** How current the facts about the cluster are at the time of a decision. */
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
  /** How current the facts about the cluster were; absent when there never are any. */
  knowledge?: Knowledge;
  /** The request, reduced to what is needed, for the thread that has the facts to decide on it. */
  handedBack?: AdmissionRequest;
  /** The extension server to ask before responding; absent when none is to be asked. */
  probe?: PendingProbe;
}

/** A server to ask, and what to do with the findings about it. */
export interface PendingProbe {
  config: ExtensionConfig;
  /** The outcome with the findings about the server. */
  conclude(findings: readonly Finding[]): AdmissionOutcome;
}
