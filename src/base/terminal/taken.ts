let takers = 0;

/** Keeps progress lines off the terminal while another program talks to a person there; returns what gives it back. */
export function takeTerminal(): () => void {
  takers++;
  let isTaken = true;
  return () => {
    takers -= isTaken ? 1 : 0;
    isTaken = false;
  };
}

export function isTerminalTaken(): boolean {
  return takers > 0;
}
