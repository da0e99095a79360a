import { isTerminalTaken } from '../../base/index.ts';

/** Time in milliseconds after which a run shows its progress, and how often it updates that. */
const firstAfter = 1000;
const every = 200;

interface Progress {
  /** Shows the line once a second has passed, and not too often. */
  show(text: () => string): void;
  /** Erases the line, before something else is written. */
  clear(): void;
}

type Terminal = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** Progress on a terminal; silent anywhere else. */
export function createProgress(terminal: Terminal): Progress {
  if (terminal.isTTY !== true) {
    return { show: () => {}, clear: () => {} };
  }
  let next = performance.now() + firstAfter;
  let isShown = false;
  const erase = '\r\u001b[K';
  return {
    show(text) {
      if (performance.now() >= next && !isTerminalTaken()) {
        next = performance.now() + every;
        isShown = true;
        // What does not fit would begin a second line, which is not erased.
        terminal.write(`${erase}${text().slice(0, (terminal.columns ?? 80) - 3)} …`);
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

/** Progress that shows a text by itself, for work that waits, until the end of the block (`using`). */
export function startProgress(terminal: Terminal, text: () => string): Progress & Disposable {
  const progress = createProgress(terminal);
  const ticking = setInterval(() => progress.show(text), every);
  return {
    ...progress,
    [Symbol.dispose]() {
      clearInterval(ticking);
      progress.clear();
    },
  };
}
