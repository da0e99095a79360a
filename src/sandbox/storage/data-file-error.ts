/** A file cannot hold the state of a sandbox. The message continues after its name. */
export class DataFileError extends Error {}
