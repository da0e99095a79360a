export { howToAllowDeletion, isDeletionAllowed } from './allow-deletion.ts';
export { caBundleOf, caBundlePath, certificatesOf } from './ca-bundle.ts';
export { groupVersionOf, handlersOf, knownHandlersOf, nameHook } from './handlers.ts';
export { inPlaceHandlersOf } from './in-place-hooks.ts';
export { namespaceSelectorOf } from './namespace-selector.ts';
export { annotatedSecret, namedSecret, secretAnnotationPath, secretNameOf, usableSecret } from './secret.ts';
export { checkServiceLabel, isServiceDefined, namedService } from './service.ts';
export { forUnknownFields } from './unknown-fields.ts';
export { clientUrlOf, showableUrl, urlPath } from './url.ts';
