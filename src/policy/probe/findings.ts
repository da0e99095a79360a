import { truncated } from '../../base/index.ts';
import type { FieldPath } from '../../kubernetes/index.ts';
import type { CallError, CallStep, DiscoverResult } from '../../runtimehooks/client/index.ts';
import type { Finding } from '../rules/rule.ts';

/** Maximum number of problems with a Discovery response that are listed. */
const maxProblems = 5;
/** Longest quote of an extension server's text in messages, in characters: it may not be the user's own server. */
const maxRepeated = 120;

const clientConfigPath: FieldPath = ['spec', 'clientConfig'];

/** The remedy for a step that failed. */
const remedies: Partial<Record<CallStep, string>> = {
  connect: 'check the address, and that the server is running',
  tls: 'serve a certificate for this name, signed by the CA in caBundle',
  'tls-config': "put the CA's PEM certificates here, in base64",
  timeout: 'answer Discovery at once; it should need no work',
  http: 'answer Discovery with 200',
  size: 'send a smaller answer: 512 handlers take 128 KiB',
  decode: 'answer with one JSON object',
  status: 'answer with status Success',
};

/** Fields that a failed step is about; others are about the whole clientConfig. */
const fields: Partial<Record<CallStep, string>> = { tls: 'caBundle', 'tls-config': 'caBundle' };

/** The prefix of errors in Cluster API's conditions, which is left out. */
const prefix = /^failed to discover extension "[^"]{0,600}": (?:http call failed: )?(?:Post "[^"]{0,2000}": )?/;

function short(message: string): string {
  return truncated(message.replace(prefix, ''), maxRepeated);
}

/**
 * How a step failed. The text of an HTTP error and the names in a certificate are not repeated: the server may be one
 * that the user cannot reach.
 */
function whatOf({ step, code, message }: CallError): string {
  if (step === 'http') {
    return `it answered ${code}`;
  }
  return message.includes('ERR_TLS_CERT_ALTNAME_INVALID') ? 'its certificate is for other names' : short(message);
}

/**
 * The problems that Cluster API's controller would run into with an extension, as findings; none when it would discover
 * it.
 */
export function findingsOf(result: DiscoverResult): Finding[] {
  if (result.ok) {
    return [];
  }
  const { error, problems } = result;
  if (problems.length > 0) {
    return problems.slice(0, maxProblems).map(({ message, remedy }) => ({
      path: clientConfigPath,
      reason: 'FieldValueInvalid',
      message: `the server was probed, and Cluster API would refuse its answer: ${short(message)}; ${remedy}`,
    }));
  }
  const what = whatOf(error);
  const field = fields[error.step];
  return [
    {
      path: field === undefined ? clientConfigPath : [...clientConfigPath, field],
      reason: 'FieldValueInvalid',
      message: `the server was probed, and Cluster API could not discover it: ${what}; ${remedies[error.step] ?? 'see the message'}`,
    },
  ];
}
