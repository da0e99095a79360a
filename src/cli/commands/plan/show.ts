import { printable, printableJson } from '../../../base/index.ts';
import { planMarkdown, planPage, planText, problemText } from '../../../checks/plan/index.ts';
import { formatRelease, type Release } from '../../../runtimehooks/index.ts';
import type { Plan, Problem } from '../../../topology/index.ts';
import { inFormat } from '../../framework/layout.ts';
import { exitCode, type Io, paintFor } from '../../framework/program.ts';
import type { failures, PlanFlags } from './flags.ts';
import type { Source } from './source.ts';
import type { States } from './states.ts';

/** Width without a terminal, and the least that lines are broken for, in columns. */
const usualWidth = 100;
const minWidth = 40;

/** Whether a plan fails, by what is asked: each condition includes those before it. */
function fails({ clusters, sum }: Plan, condition: (typeof failures)[number]): boolean {
  // What is held back happens without another change of the group.
  const verdicts = clusters.flatMap(({ groups }) =>
    groups.flatMap(({ verdict, held }) => (held === undefined ? [verdict] : [verdict, held.verdict])),
  );
  const isUnknown = verdicts.includes('unknown');
  const isReplacing =
    sum.replaced > 0 ||
    sum.deleted > 0 ||
    verdicts.some((verdict) => ['replaced', 'onDelete', 'deleted'].includes(verdict));
  const isChanging =
    verdicts.some((verdict) => verdict !== 'unchanged') ||
    clusters.some(({ groups }) => groups.some(({ healthCheck }) => healthCheck !== undefined));
  const reached = { none: false, unknown: isUnknown, replace: isUnknown || isReplacing, change: isChanging };
  return reached[condition];
}

function inputsOf(flags: PlanFlags, { live }: Source): string {
  const named = [
    ...flags.from.map((path) => `--from ${path}`),
    ...flags.filename.map((path) => `-f ${path}`),
    ...(flags.recorded === undefined ? [] : [`--recorded ${flags.recorded}`]),
    ...(flags['set-version'] === undefined ? [] : [`--set-version ${flags['set-version']}`]),
    ...flags['set-variable'].map(({ name }) => `--set-variable ${name}`),
  ].join(' ');
  return `${live === undefined ? '' : 'the cluster '}${named}`.trim();
}

/** Writes a plan and what is to be said beside it. Returns the exit code. */
export function show(
  plan: Plan,
  source: Source,
  { hiding, classOf, ...states }: States,
  releases: { before: Release; after: Release },
  flags: PlanFlags,
  io: Io,
): number {
  const unusable = new Set([...source.before.problems, ...source.change.problems, ...states.problems]);
  const shown = { ...hiding.plan(plan), ...(unusable.size > 0 && { unusable: unusable.size }) };
  const { columns = usualWidth, isTTY = false } = io.stdout;
  const width = isTTY ? Math.max(minWidth, columns) : usualWidth;
  const release = [...new Set([releases.before, releases.after].map(formatRelease))].join(' → ');
  const about = { inputs: inputsOf(flags, source), release, madeAt: new Date() };
  io.stdout.write(
    inFormat(flags.output, {
      text: () => planText(shown, classOf, { paint: paintFor(io), width }),
      markdown: () => planMarkdown(shown, classOf),
      json: () => `${printableJson(shown, 2)}\n`,
      html: () => planPage(shown, classOf, about),
    }),
  );
  for (const note of states.notes) {
    io.stderr.write(`plan: ${hiding.text(note)}\n`);
  }
  const placeOf = ({ object = '' }: Problem) => source.change.places.get(object) ?? source.before.places.get(object);
  const faults = shown.clusters
    .flatMap(({ problems, groups }) => [...problems, ...groups.flatMap(({ problems: own = [] }) => own)])
    .filter(({ object }) => object !== undefined)
    .map((problem) => {
      const place = placeOf(problem);
      return `${place === undefined ? '' : `${printable(place())}: `}${problemText(problem)}`;
    });
  const problems = new Set([...unusable, ...faults]);
  for (const problem of problems) {
    io.stderr.write(`plan: ${hiding.text(problem)}\n`);
  }
  const isIncomplete = problems.size > 0 || plan.sum.notApplied > 0;
  return isIncomplete || fails(plan, flags['fail-on']) ? exitCode.findings : exitCode.ok;
}
