/** A problem that the maintainer has to solve before there can be a release: one line, exit code 1. */
export class ReleaseProblem extends Error {}

const heading = /^## \[([^\]]+)\](.*)$/gm;

interface Section {
  name: string;
  /** What follows the name: ` - 2026-11-22`. */
  date: string;
  body: string;
}

function sectionsOf(changelog: string): Section[] {
  const headings = [...changelog.matchAll(heading)];
  return headings.map(({ index, 0: line, 1: name = '', 2: date = '' }, at) => ({
    name,
    date,
    body: changelog.slice(index + line.length, headings[at + 1]?.index).trim(),
  }));
}

/** What a release makes of the changelog. */
export interface Released {
  /** The changelog with a dated section of the version. */
  text: string;
  /** The body of that section: the notes of the release. */
  notes: string;
}

/**
 * Moves what is under [Unreleased] into a section of the version, unless it is there already.
 *
 * @param date YYYY-MM-DD.
 * @throws {ReleaseProblem} when it is not clear what belongs to the version, or nothing does.
 */
export function releaseChangelog(changelog: string, version: string, date: string): Released {
  const sections = sectionsOf(changelog);
  const unreleased = sections.find(({ name }) => name === 'Unreleased');
  const own = sections.find(({ name }) => name === version);
  if (unreleased === undefined) {
    throw new ReleaseProblem('CHANGELOG.md has no section [Unreleased]');
  }
  if (own === undefined) {
    if (unreleased.body === '') {
      throw new ReleaseProblem(`CHANGELOG.md: there is nothing under [Unreleased] for ${version}`);
    }
    const dated = `## [Unreleased]\n\n## [${version}] - ${date}`;
    return { text: changelog.replace('## [Unreleased]', () => dated), notes: unreleased.body };
  }
  if (unreleased.body !== '') {
    throw new ReleaseProblem(
      `CHANGELOG.md has a section [${version}] and entries under [Unreleased]: release these under another version`,
    );
  }
  if (!/^ - \d{4}-\d\d-\d\d$/.test(own.date)) {
    throw new ReleaseProblem(`CHANGELOG.md: the section [${version}] has no date (## [${version}] - ${date})`);
  }
  return { text: changelog, notes: own.body };
}

/** The entries of a section: list items with the lines that continue them. */
export const entriesOf = (notes: string): string[] => notes.split(/^(?=- |#)/m).filter((part) => part.startsWith('- '));
