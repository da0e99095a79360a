import { isTerminalTaken } from '../../base/index.ts';

/** Time in milliseconds after which a run shows its progress, and how often it updates that. */
const firstAfter = 1000;
const every = 200;

/** Shows a text on a terminal from a second on until the end of the block (`using`); `clear` makes room. */
export function startProgress(
  terminal: NodeJS.WritableStream & { isTTY?: boolean; columns?: number },
  text: () => string,
): Disposable & { clear(): void } {
  const start = performance.now() + firstAfter;
  let isShown = false;
  const erase = '\r\u001b[K';
  function clear(): void {
    if (isShown) {
      isShown = false;
      terminal.write(erase);
    }
  }
  const ticking = setInterval(() => {
    if (terminal.isTTY === true && performance.now() >= start && !isTerminalTaken()) {
      isShown = true;
      // Text that does not fit would begin a second line, which is not erased.
      terminal.write(`${erase}${text().slice(0, (terminal.columns ?? 80) - 3)} …`);
    }
  }, every);
  return {
    clear,
    [Symbol.dispose]() {
      clearInterval(ticking);
      clear();
    },
  };
}
