import { count } from '../../../base/index.ts';
import { diffLines } from '../../output/diff.ts';
import { diffHtml, escaped, page } from '../../output/page.ts';
import type { TemplateChange } from '../cluster/effects.ts';
import type { CallEntry, EndEntry, Entry, EventEntry } from '../record.ts';
import { drawingOf } from './drawing.ts';
import { style } from './style.ts';
import {
  argumentsText,
  callId,
  clockText,
  detailText,
  eventText,
  type Shown,
  shownEntries,
  stepsText,
  verdictOf,
} from './words.ts';

/** Maximum number of Clusters that are drawn, those that could not be completed first. */
const maxTimelines = 20;
const maxRows = 2000;
const maxListed = 5000;

function templateHtml(change: TemplateChange): string {
  const { holder, template, before, after, ignored } = change;
  const skipped = ignored
    .map((path) => `<li>Cluster API ignores the change to <code>${escaped(path)}</code></li>`)
    .join('');
  return `<h4>${escaped(template)} <small>${escaped(holder)}</small></h4>${diffHtml(diffLines(before, after))}${skipped === '' ? '' : `<ul class="ignored">${skipped}</ul>`}`;
}

function callRow(entry: CallEntry, { isRepetition, count: repetitions, until }: Shown): string {
  const id = callId(entry);
  if (isRepetition) {
    return `<tr id="${id}" class="event"><td></td><td colspan="3">… and ${repetitions} more like it, until ${clockText(until)}</td></tr>`;
  }
  const steps = stepsText(entry);
  const verdict = verdictOf(entry);
  return `<tr id="${id}" class="call"><td class="time">${clockText(entry.at)}</td><td><b>${escaped(entry.hook)}</b> <small>${escaped(entry.call.handler)}</small></td><td>${escaped(argumentsText(entry))}${steps === '' ? '' : `<br><small>${escaped(steps)}</small>`}</td><td><span class="badge ${verdict}">${verdict}</span> ${escaped(detailText(entry))}</td></tr>`;
}

function eventRow({ at, event }: EventEntry): string {
  const more =
    (event.kind === 'condition' || event.kind === 'object-condition') && event.message !== ''
      ? `<div class="message">${escaped(event.message)}</div>`
      : event.kind === 'templates'
        ? `<details><summary>show the difference</summary>${event.changes.map(templateHtml).join('')}</details>`
        : '';
  return `<tr class="event ${event.kind}"><td class="time">${clockText(at)}</td><td colspan="3">${escaped(eventText(event))}${more}</td></tr>`;
}

/** The table rows of a simulation. */
function rowsOf(entries: readonly Entry[]): string {
  const shown = shownEntries(entries);
  const rows = shown
    .slice(0, maxRows)
    .map((one) =>
      one.entry.type === 'event' ? eventRow(one.entry) : one.entry.type === 'call' ? callRow(one.entry, one) : '',
    );
  return `${rows.join('')}${shown.length > maxRows ? '<tr><td colspan="4">… and more: the text and JSON outputs have all of it</td></tr>' : ''}`;
}

interface ClusterTimeline {
  cluster: string;
  entries: Entry[];
  end: EndEntry | undefined;
}

const badge = (end: EndEntry | undefined) =>
  end === undefined
    ? ''
    : end.isComplete
      ? '<span class="badge passed">complete</span>'
      : '<span class="badge failed">incomplete</span>';

function timelineHtml({ cluster, entries, end }: ClusterTimeline, index: number): string {
  const calls = entries.filter((entry) => entry.type === 'call').length;
  const facts = [count(calls, 'call'), ...(end === undefined ? [] : [`${clockText(end.at)} of simulated time`])];
  const reason = end === undefined || end.isComplete ? '' : `<p class="reason">${escaped(end.reason)}</p>`;
  return `<section id="cluster-${index}"><h2>${escaped(cluster)} ${badge(end)}</h2><p class="facts">${facts.join(' · ')}</p>${reason}
${drawingOf(entries)}
<h3>What happened</h3>
<div class="wide"><table class="timeline"><thead><tr><th>time</th><th>hook and handler</th><th>versions</th><th>answer</th></tr></thead><tbody>${rowsOf(entries)}</tbody></table></div></section>`;
}

const legend = (['passed', 'blocked', 'failed', 'ignored'] as const)
  .map((verdict) => `<span class="key"><i class="dot ${verdict}"></i>${verdict}</span>`)
  .join('');

/** An HTML page with drawn timelines of Clusters. */
export function htmlPage(all: readonly Entry[]): string {
  const byCluster = new Map<string, ClusterTimeline>();
  for (const entry of all) {
    const timeline = byCluster.get(entry.cluster) ?? { cluster: entry.cluster, entries: [], end: undefined };
    byCluster.set(entry.cluster, timeline);
    timeline.entries.push(entry);
    timeline.end = entry.type === 'end' ? entry : timeline.end;
  }
  const preparation = [...byCluster.values()].filter(({ end, cluster }) => end === undefined || cluster === '');
  const clusters = [...byCluster.values()].filter(({ end, cluster }) => end !== undefined && cluster !== '');
  const isBad = ({ end }: ClusterTimeline) => end?.isComplete === false;
  const drawn = [...clusters.filter(isBad), ...clusters.filter((timeline) => !isBad(timeline))].slice(0, maxTimelines);
  const complete = clusters.filter((timeline) => !isBad(timeline)).length;
  const listed =
    clusters.length < 2
      ? ''
      : `<details class="list"${clusters.length <= maxTimelines ? ' open' : ''}><summary>${complete} of ${clusters.length} lifecycles completed</summary><ul>${clusters
          .slice(0, maxListed)
          .map((timeline) => {
            const index = drawn.indexOf(timeline);
            const name = escaped(timeline.cluster);
            return `<li>${index < 0 ? name : `<a href="#cluster-${index}">${name}</a>`} ${badge(timeline.end)} ${escaped(timeline.end?.reason ?? '')}</li>`;
          })
          .join('')}</ul></details>`;
  const before = preparation
    .map(({ cluster, entries, end }) => {
      const reason = end === undefined ? '' : `<p class="reason">${escaped(end.reason)}</p>`;
      const title = cluster === '' ? 'Extensions' : escaped(cluster);
      return `<details class="list"${end === undefined ? '' : ' open'}><summary>${title} ${badge(end)}</summary>${reason}<div class="wide"><table class="timeline"><tbody>${rowsOf(entries)}</tbody></table></div></details>`;
    })
    .join('');
  return page(
    'Rehearsal',
    style,
    `<header><h1>Rehearsal of ${clusters.length === 1 ? `a Cluster’s lifecycle` : `${clusters.length} Clusters’ lifecycles`}</h1><p class="legend">${legend}<span class="key"><i class="dot pending"></i>pending in the annotation</span><span class="key"><i class="dot fault"></i>a fault, as asked for</span></p></header>
<main>${listed}${before}${drawn.map(timelineHtml).join('\n')}</main>`,
  );
}
