/** What a check of single files passed with: sums of what they and its settings held. */
export interface Passed {
  settings: string;
  /** By path. */
  files: Readonly<Record<string, string>>;
}

/** More are no longer than their folder on a command line, and no less work. */
const mostNamed = 300;

/** The paths to check so that all that is there has passed: `.` where the settings are others, or most files. */
export function toCheck(now: Passed, before: Passed | undefined): string[] {
  if (now.settings !== before?.settings) {
    return ['.'];
  }
  const changed = Object.keys(now.files).filter((path) => now.files[path] !== before.files[path]);
  return changed.length > mostNamed ? ['.'] : changed;
}
