import { homedir } from 'node:os';

/** The home folder; undefined for a user whom the system knows only by number, as in pods on OpenShift. */
export function homeFolder(env: NodeJS.ProcessEnv, systemHome: () => string = homedir): string | undefined {
  try {
    return env.HOME || systemHome();
  } catch {
    return undefined;
  }
}
