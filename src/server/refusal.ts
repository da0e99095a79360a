import { withoutControls } from '../base/index.ts';
import { refusal } from '../kubernetes/index.ts';

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

/** Headers that some refusals need, by HTTP status code. */
export const refusalHeaders: ReadonlyMap<number, readonly string[]> = new Map([
  [405, ['allow', 'POST']],
  [503, ['retry-after', '1']],
]);

/** How long a client may take to read why its request is refused before all of it has arrived, in milliseconds. */
export const readingMs = 1_000;

export function statusOf({ code, message }: Refusal): Answer {
  return { code, text: JSON.stringify(refusal(code, withoutControls(message))) };
}
