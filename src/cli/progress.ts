/** How long a run may be silent before it shows how far it is, and how often it shows it then, in milliseconds. */
const firstAfter = 1000;
const every = 200;

/** One line that says how far a long run is; it takes its own place again and again. */
export interface Progress {
  /** Shows the line, when a second has passed and it was not shown just now. */
  show(text: () => string): void;
  /** Takes the line away, before something else is written. */
  clear(): void;
}

/** Progress on a terminal; anywhere else it is silent. */
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
      if (now() >= next) {
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
