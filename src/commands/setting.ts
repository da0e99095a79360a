import type { Command } from 'commander';

/** A flag that can also be set by an environment variable. */
export interface Setting {
  /** The text as given. */
  text: string;
  /** Who gave it, for messages: `--profile`, or the variable's name. */
  from: string;
}

/** The environment variable of a flag: `EXTENSIONCONFIG_WEBHOOK_RULES_CONFIG` for `--rules-config`. */
export function environmentVariableOf(flag: string): string {
  return `EXTENSIONCONFIG_WEBHOOK_${flag.replace(/^--/, '').replaceAll('-', '_').toUpperCase()}`;
}

/** The values of a flag: from the command line, else from its environment variable, else none. An empty variable counts as none. */
export function settingsOf(command: Command, env: NodeJS.ProcessEnv, flag: string): Setting[] {
  const key = flag.replace(/^--/, '').replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const given: unknown = command.opts()[key];
  if (command.getOptionValueSource(key) === 'cli') {
    return (Array.isArray(given) ? given : [given]).map((text) => ({ text: String(text), from: flag }));
  }
  const from = environmentVariableOf(flag);
  const text = env[from];
  return text === undefined || text === '' ? [] : [{ text, from }];
}
