import {
  fieldAt,
  isSame,
  type Json,
  type JsonObject,
  qualifiedNameProblems,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { forbiddenField, invalid, notSupported, required } from '../../kubernetes/schema/index.ts';
import { type Column, type KindStrategy, metadataOf } from '../resources/resource.ts';

/** Name of the collection of events: both groups share the same objects. */
export const eventStorage = 'events';
const storedAs = 'v1';

/**
 * The fields of an Event of events.k8s.io/v1 that have another name in v1 (kubernetes,
 * pkg/apis/events/v1/conversion.go).
 */
const coreNames: Record<string, string> = {
  note: 'message',
  regarding: 'involvedObject',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};
const ownNames: Record<string, string> = Object.fromEntries(
  Object.entries(coreNames).map(([own, core]) => [core, own]),
);

function translated(event: JsonObject, apiVersion: string): JsonObject {
  const names = apiVersion === storedAs ? coreNames : ownNames;
  return {
    ...Object.fromEntries(Object.entries(event).map(([name, value]) => [names[name] ?? name, value])),
    apiVersion,
  };
}

/** The fields that events can be selected by (kubernetes, registry of events). */
export const eventFields = [
  ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
    (field) => `involvedObject.${field}`,
  ),
  ...['reason', 'reportingComponent', 'source.component', 'type'],
];

/** Longest texts, in characters (kubernetes, pkg/apis/core/validation/events.go). */
const maxLength = { reportingInstance: 128, action: 128, reason: 128, note: 1024 } as const;

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/** An event must be in the namespace of its object, and in `default` (or kube-system) for a cluster-scoped object. */
function namespaceCauses(event: JsonObject, about: string): StatusCause[] {
  const named = nestedText(event, about, 'namespace');
  const { namespace } = metadataOf(event);
  const allowed = named !== '' ? [named] : isEmpty(event.eventTime) ? ['default'] : ['default', 'kube-system'];
  return allowed.includes(String(namespace))
    ? []
    : [invalid(`${about}.namespace`, named, 'does not match event.namespace')];
}

/** Checks the required fields of an event with an `eventTime`; `names` are the names of the fields in its version. */
function* newEventCauses(event: JsonObject, names: Record<string, string>): Generator<StatusCause> {
  const fieldOf = (name: string) => names[name] ?? name;
  const controller = fieldOf('reportingController');
  const name = event[controller];
  yield* isEmpty(name)
    ? [required(controller)]
    : qualifiedNameProblems(String(name)).map((problem) => invalid(controller, name, problem));
  for (const [name, max] of Object.entries(maxLength)) {
    const field = fieldOf(name);
    if (name !== 'note' && isEmpty(event[field])) {
      yield required(field);
    }
    if (String(event[field] ?? '').length > max) {
      yield invalid(field, event[field], `can have at most ${max} characters`);
    }
  }
}

/** Events of the core group, which older clients write and kubectl reads. */
export const coreEventStrategy: KindStrategy = {
  validate: (event) => [
    ...namespaceCauses(event, 'involvedObject'),
    ...(isEmpty(event.eventTime) ? [] : newEventCauses(event, coreNames)),
  ],
};

/** Only the series of an event may change. */
const immutable = ['regarding', 'related', 'reason', 'note', 'action', 'type', 'eventTime'];
const unset = ['deprecatedSource', 'deprecatedFirstTimestamp', 'deprecatedLastTimestamp', 'deprecatedCount'];

export const eventStrategy: KindStrategy = {
  storedAs,
  convert: translated,
  validate: (event, old) => {
    if (old !== undefined) {
      return [...immutable, 'reportingController', 'reportingInstance']
        .filter((field) => !isSame(event[field] ?? null, old[field] ?? null))
        .map((field) => invalid(field, event[field], 'field is immutable'));
    }
    return [
      ...namespaceCauses(event, 'regarding'),
      ...(isEmpty(event.eventTime) ? [required('eventTime')] : []),
      ...newEventCauses(event, {}),
      ...(event.type === 'Normal' || event.type === 'Warning'
        ? []
        : [notSupported('type', event.type ?? '', ['Normal', 'Warning'])]),
      ...unset
        .filter((field) => !isEmpty(event[field]) && event[field] !== 0 && !isSame(event[field] as Json, {}))
        .map((field) => forbiddenField(field, 'needs to be unset')),
    ];
  },
};

function nestedText(event: JsonObject, field: string, name: string): string {
  return String(fieldAt(event, field, name) ?? '');
}

/** Empty if unknown, as the table shows it. */
function firstSeen({ firstTimestamp, eventTime }: JsonObject): string {
  return String((isEmpty(firstTimestamp) ? eventTime : firstTimestamp) ?? '');
}

function lastSeen(event: JsonObject): string {
  const series = nestedText(event, 'series', 'lastObservedTime');
  return series !== '' ? series : isEmpty(event.lastTimestamp) ? firstSeen(event) : String(event.lastTimestamp);
}

function targetOf(event: JsonObject): string {
  const kind = nestedText(event, 'involvedObject', 'kind').toLowerCase();
  const name = nestedText(event, 'involvedObject', 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function sourceOf(event: JsonObject): string {
  const component = nestedText(event, 'source', 'component') || String(event.reportingComponent ?? '');
  const host = nestedText(event, 'source', 'host') || String(event.reportingInstance ?? '');
  return host === '' ? component : `${component}, ${host}`;
}

function countOf(event: JsonObject): number {
  return Number(nestedText(event, 'series', 'count') || event.count || 1);
}

/** The columns of events in the order of `kubectl get events`, which shows the name last (kubernetes, printers). */
export function eventColumns(inCore: (event: JsonObject) => JsonObject): Column[] {
  const column = (
    name: string,
    value: (event: JsonObject) => string | number,
    { priority = 0, isTime = false, type = 'string' } = {},
  ): Column => ({ name, type, description: name, priority, isTime, value: (event) => value(inCore(event)) });
  const wide = { priority: 1 };
  return [
    column('Last Seen', lastSeen, { isTime: true }),
    column('Type', ({ type }) => String(type ?? '')),
    column('Reason', ({ reason }) => String(reason ?? '')),
    column('Object', targetOf),
    column('Subobject', (event) => nestedText(event, 'involvedObject', 'fieldPath'), wide),
    column('Source', sourceOf, wide),
    column('Message', ({ message }) => String(message ?? '').trim()),
    column('First Seen', firstSeen, { ...wide, isTime: true }),
    column('Count', countOf, wide),
    column('Name', (event) => String(metadataOf(event).name ?? ''), wide),
  ];
}

/** An event of either group as one of the core group. */
export function asCoreEvent(event: JsonObject): JsonObject {
  return event.apiVersion === storedAs ? event : translated(event, storedAs);
}
