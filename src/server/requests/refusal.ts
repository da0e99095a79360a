import { refusal } from '../../kubernetes/index.ts';

/** Why a request gets no decision: an HTTP status code and a sentence. */
export interface Refusal {
  code: number;
  message: string;
}

/** An HTTP status code and a JSON text. */
export interface Answer {
  code: number;
  text: string;
}

/** The response to a client whose request did not arrive in time. */
export const lateMessage = 'the request did not arrive in time';

/** Headers that some refusals need, by HTTP status code. */
export const refusalHeaders: ReadonlyMap<number, readonly string[]> = new Map([
  [405, ['allow', 'POST']],
  [503, ['retry-after', '1']],
]);

export function statusOf({ code, message }: Refusal): Answer {
  return { code, text: JSON.stringify(refusal(code, message)) };
}
