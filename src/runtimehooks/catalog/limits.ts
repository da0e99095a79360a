/** How long Cluster API waits for an answer if the handler does not say, in seconds; for Discovery's, too. */
export const defaultTimeoutSeconds = 10;
/** Longest timeout of a handler that Cluster API accepts, in seconds. */
export const maxTimeoutSeconds = 30;
/** Longest timeout that is not warned about, in seconds: the Runtime SDK's recommendation. */
export const advisedTimeoutSeconds = 10;
/** Maximum number of handlers of one extension: what the status of an ExtensionConfig can hold. */
export const maxHandlers = 512;
