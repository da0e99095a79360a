import { isTerminalTaken } from '../terminal/index.ts';

/** Time in milliseconds after which a run shows its progress, and how often it updates that. */
const firstAfter = 1000;
const every = 200;

/** One line with the progress of a long run, which overwrites itself. */
export interface Progress {
  /** Shows the line once a second has passed, and not too often. */
  show(text: () => string): void;
  /** Erases the line, before something else is written. */
  clear(): void;
}

/** Progress on a terminal; silent anywhere else. */
export function createProgress(
  terminal: NodeJS.WritableStream & { isTTY?: boolean },
  now: () => number = () => performance.now(),
): Progress {
  if (terminal.isTTY !== true) {
    return { show: () => {}, clear: () => {} };
  }
  let next = now() + firstAfter;
  let isShown = false;
  const erase = '\r\u001b[K';
  return {
    show(text) {
      if (now() >= next && !isTerminalTaken()) {
        next = now() + every;
        isShown = true;
        terminal.write(`${erase}${text()} …`);
      }
    },
    clear() {
      if (isShown) {
        isShown = false;
        terminal.write(erase);
      }
    },
  };
}
