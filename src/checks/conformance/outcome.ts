import { isDeepStrictEqual } from 'node:util';
import { type Json, type JsonObject, perObject } from '../../kubernetes/index.ts';
import { type CallError, quotable } from '../../runtimehooks/client/index.ts';
import { type Answer, type PatchReview, reviewPatches } from './patch-review.ts';

export type Outcome = Answer | { response?: undefined; error: CallError };

/** The outcome of a call, as the end of a sentence. */
export function describe({ response, error }: Outcome): string {
  if (error === undefined) {
    return `answers ${quotable(String(response.status ?? 'without a status'), 40)}`;
  }
  return error.step === 'http'
    ? `answers HTTP ${error.code}`
    : error.step === 'timeout'
      ? 'does not answer in time'
      : quotable(error.message, 300);
}

export const isSuccess = (outcome: Outcome): outcome is Answer => outcome.response?.status === 'Success';

export const isFailure = ({ response }: Outcome): boolean => response?.status === 'Failure';

/** The patches of an answer; undefined for a hook whose answers have none. */
export const reviewOf = perObject((answer: Answer): PatchReview | undefined => reviewPatches(answer));

const isZero = (value: Json) =>
  value === null || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

/** What Cluster API makes of an answer. Patches count by their effect: those of Go's SDK follow the order of a map. */
const effectOf = perObject((answer: Answer): JsonObject => {
  const patches = reviewOf(answer);
  const fields = Object.entries(answer.response).filter(
    ([name, value]) =>
      !isZero(value) &&
      !['apiVersion', 'kind'].includes(name) &&
      (patches === undefined || (name !== 'items' && !name.endsWith('Patch'))),
  );
  const problems = patches?.problems.filter(({ kind }) => kind !== 'invalid').map(({ message }) => message) ?? [];
  return { ...Object.fromEntries(fields), ...(patches && { patches: { results: patches.results, problems } }) };
});

/** Whether two calls had the same outcome, as far as Cluster API can tell. */
export function isSameOutcome(a: Outcome, b: Outcome): boolean {
  if (a.error !== undefined && b.error !== undefined) {
    return (a.error.step === 'http') === (b.error.step === 'http') && a.error.code === b.error.code;
  }
  return a.error === undefined && b.error === undefined && isDeepStrictEqual(effectOf(a), effectOf(b));
}

/** How two outcomes differ, as the end of a sentence. */
export function difference(a: Outcome, b: Outcome): string {
  if (a.error !== undefined || b.error !== undefined) {
    return `it once ${describe(a)}, and once ${describe(b)}`;
  }
  const [one, other] = [effectOf(a), effectOf(b)];
  const names = Object.keys({ ...one, ...other }).filter((name) => !isDeepStrictEqual(one[name], other[name]));
  return `the answers differ in ${quotable(names.slice(0, 5).join(', '), 200)}`;
}

export const messageOf = ({ response }: Outcome): string =>
  typeof response?.message === 'string' ? response.message : '';
