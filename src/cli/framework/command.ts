import type { Call, Flags } from './flags.ts';

/** An argument: `[names...]`, its description, and the only values that it accepts. */
type ArgumentText = readonly [syntax: string, description: string, choices?: readonly string[]];

export interface Command<F extends Flags = Flags> {
  description: string;
  args?: readonly ArgumentText[];
  flags?: F;
  /** Text of the help, after the flags. */
  help?: string;
  commands?: Readonly<Record<string, Command & { summary: string }>>;
  /** Whether it takes any flag and argument, and ignores them. */
  acceptsAnything?: boolean;
  /** Does the work, with arguments as their syntax says; returns the exit code, by default 0. Absent for a group. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands have nothing to return.
  run?(call: Call<F>, ...args: (string | undefined | string[])[]): Promise<number | void> | number | void;
}

/** The same, with the types of its flags. */
export function defineCommand<const F extends Flags = Flags>(command: Command<F>): Command {
  return command as Command;
}
