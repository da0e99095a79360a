import { allowDeletionAnnotation, type ExtensionConfig } from '../../../extensionconfig/index.ts';
import { showValue } from '../../../kubernetes/index.ts';

type Metadata = ExtensionConfig['metadata'];

/** Whether an annotation allows deleting an object that is still needed. */
export function isDeletionAllowed({ annotations }: Metadata): boolean {
  return annotations?.[allowDeletionAnnotation] === 'true';
}

/**
 * How to allow the deletion, as the end of a message. If the annotation has another value, it says why that does not
 * count.
 */
export function howToAllowDeletion({ name = '', annotations }: Metadata): string {
  const value = annotations?.[allowDeletionAnnotation];
  const set = `extensionconfig ${name} ${allowDeletionAnnotation}=true`;
  return value === undefined
    ? `allow it with kubectl annotate ${set}`
    : `allow it with kubectl annotate --overwrite ${set} (the annotation is ${showValue(value)}: only "true" counts)`;
}
