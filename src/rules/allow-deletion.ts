import { allowDeletionAnnotation, type ExtensionConfig } from '../api/index.ts';
import { showValue } from '../kubernetes/index.ts';

type Metadata = ExtensionConfig['metadata'];

/** Whether an annotation allows the deletion of an object that something still needs. */
export function isDeletionAllowed({ annotations }: Metadata): boolean {
  return annotations?.[allowDeletionAnnotation] === 'true';
}

/** How to allow the deletion: the end of a message. Where the annotation has another value, it says why that does not count. */
export function howToAllowDeletion({ name = '', annotations }: Metadata): string {
  const value = annotations?.[allowDeletionAnnotation];
  const set = `extensionconfig ${name} ${allowDeletionAnnotation}=true`;
  return value === undefined
    ? `allow it with kubectl annotate ${set}`
    : `allow it with kubectl annotate --overwrite ${set} (the annotation is ${showValue(value)}: only "true" counts)`;
}
