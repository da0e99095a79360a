import type { Log } from '../../base/index.ts';
import type { ConversionNote, ReviewNote, Webhook } from './decide.ts';

const messages = {
  allowed: 'allowed',
  warned: 'allowed with warnings',
  denied: 'denied',
  malformed: 'malformed review',
} as const;

const rounded = (durationMs: number) => Math.round(durationMs * 1000) / 1000;

/** One line for a review, at info unless it was allowed. Never the object: messages and fields may contain secrets. */
export function logReview(log: Log, webhook: Webhook, note: ReviewNote, durationMs: number): void {
  const level = note.verdict === 'allowed' ? 'debug' : 'info';
  if (!log.isLevelEnabled(level)) {
    return;
  }
  const { uid, request, deniedBy, warnedBy, knowledge } = note;
  log[level](
    {
      webhook,
      uid,
      ...(request !== undefined && {
        operation: request.operation,
        ...(request.subResource !== '' && { subResource: request.subResource }),
        name: request.name,
        username: request.username,
        dryRun: request.dryRun,
      }),
      ...(deniedBy.length > 0 && { deniedBy }),
      ...(warnedBy.length > 0 && { warnedBy }),
      ...(knowledge?.ageMs !== undefined && { factsAgeSeconds: Math.ceil(knowledge.ageMs / 1000) }),
      ...(knowledge !== undefined && knowledge.unknown.length > 0 && { factsUnknown: knowledge.unknown }),
      durationMs: rounded(durationMs),
    },
    messages[note.verdict],
  );
}

/** A failed conversion is a warning, since objects can then be neither read nor written in that version. */
export function logConversion(log: Log, note: ConversionNote, durationMs: number): void {
  const isFailure = note.result === 'Failure';
  const level = isFailure ? 'warn' : 'debug';
  if (!log.isLevelEnabled(level)) {
    return;
  }
  const { kind: _kind, result: _result, ...facts } = note;
  log[level](
    { webhook: 'convert', ...facts, durationMs: rounded(durationMs) },
    isFailure ? 'conversion failed' : 'converted',
  );
}
