import { truncated } from '../../base/index.ts';
import type { FieldPath } from '../../kubernetes/index.ts';
import {
  type CallError,
  type CallStep,
  type DiscoverResult,
  discoveryFindings,
} from '../../runtimehooks/client/index.ts';
import type { Finding } from '../rules/rule.ts';

const maxProblems = 5;
/** Longest quote of an extension server's text in messages, in characters: it may not be the user's own server. */
const maxRepeated = 120;

const clientConfigPath: FieldPath = ['spec', 'clientConfig'];

/** Fields that a failed step is about; others are about the whole clientConfig. */
const fields: Partial<Record<CallStep, string>> = { tls: 'caBundle', 'tls-config': 'caBundle' };

/** The prefix of errors in Cluster API's conditions, which is left out. */
const prefix = /^failed to discover extension "[^"]{0,600}": (?:http call failed: )?(?:Post "[^"]{0,2000}": )?/;

/** A short message. It does not repeat what the server says of itself: users may not be able to reach it. */
function shown(message: string, { step, code }: CallError): string {
  return step === 'http'
    ? `it answered ${code}`
    : message.includes('ERR_TLS_CERT_ALTNAME_INVALID')
      ? 'its certificate is for other names'
      : truncated(message.replace(prefix, ''), maxRepeated);
}

/** The problems that Cluster API's controller would run into with an extension; none when it would discover it. */
export function findingsOf(result: DiscoverResult): Finding[] {
  if (result.ok) {
    return [];
  }
  const { error, problems } = result;
  const outcome = problems.length > 0 ? 'Cluster API would refuse its answer' : 'Cluster API could not discover it';
  const field = fields[error.step];
  return discoveryFindings(result)
    .slice(0, maxProblems)
    .map(({ message, remedy }) => ({
      path: field === undefined ? clientConfigPath : [...clientConfigPath, field],
      reason: 'FieldValueInvalid',
      message: `the server was probed, and ${outcome}: ${shown(message, error)}; ${remedy}`,
    }));
}
