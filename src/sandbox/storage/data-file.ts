import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '../../kubernetes/index.ts';
import { DataFileError, internalError } from '../resources/errors.ts';

/** What says that a database is one of ours, and in which format (SQLite, PRAGMA application_id and user_version). */
const applicationId = 0x65786362;
const format = 1;

/** Where the header of a SQLite database has these (sqlite.org/fileformat.html), and its length. */
const header = { magic: 'SQLite format 3\0', format: 60, applicationId: 68, length: 100 };

interface StoredObject {
  collection: string;
  key: string;
  object: JsonObject;
}

/**
 * Whether a file is missing or empty. @throws {DataFileError} when it is anything but a database of a sandbox, which is
 * found out without writing to it.
 */
function isNew(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) {
    throw new DataFileError('is not a file');
  }
  if (stats === undefined || stats.size === 0) {
    return true;
  }
  const bytes = Buffer.alloc(header.length);
  const descriptor = openSync(file, 'r');
  readSync(descriptor, bytes);
  closeSync(descriptor);
  const isOurs =
    bytes.toString('latin1', 0, 16) === header.magic && bytes.readInt32BE(header.applicationId) === applicationId;
  if (!isOurs) {
    throw new DataFileError('was not written by a sandbox; name another file');
  }
  if (bytes.readInt32BE(header.format) !== format) {
    throw new DataFileError('was written by another version of this program; name another file');
  }
  return false;
}

/**
 * The objects of a store in a SQLite database. Each write is complete and on disk when its function returns. The file
 * contains Secrets; a new one can be read by its owner only.
 */
export class DataFile {
  readonly #database: DatabaseSync;

  /** @throws {DataFileError} for a file of another program, and for one that another sandbox is using. */
  constructor(file: string) {
    try {
      if (isNew(file)) {
        closeSync(openSync(file, 'a', 0o600));
      }
      this.#database = new DatabaseSync(file);
    } catch (error) {
      throw error instanceof DataFileError ? error : new DataFileError(`cannot be opened: ${(error as Error).message}`);
    }
    try {
      // Locked until it is closed. Only a file with everything in it has our id, whenever the program is killed.
      this.#database.exec(`
        PRAGMA locking_mode = EXCLUSIVE;
        BEGIN EXCLUSIVE;
        CREATE TABLE IF NOT EXISTS objects (collection TEXT, key TEXT, object TEXT, PRIMARY KEY (collection, key)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, version INTEGER);
        PRAGMA application_id = ${applicationId};
        PRAGMA user_version = ${format};
        COMMIT;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
      `);
    } catch (error) {
      this.#database.close();
      const { message } = error as Error;
      throw new DataFileError(message.includes('locked') ? 'is used by another sandbox' : `cannot be used: ${message}`);
    }
  }

  /** The version of the last write; 1 if there was none. */
  get version(): number {
    const row = this.#database.prepare('SELECT version FROM state').get();
    return Number(row?.version ?? 1);
  }

  *objects(): Generator<StoredObject> {
    for (const { collection, key, object } of this.#database.prepare('SELECT * FROM objects').iterate()) {
      yield { collection: String(collection), key: String(key), object: JSON.parse(String(object)) as JsonObject };
    }
  }

  /** Writes an object, or deletes it if it is undefined. @throws {RequestError} 500 for a full disk, for example. */
  write(version: number, collection: string, key: string, object: JsonObject | undefined): void {
    try {
      this.#database.exec('BEGIN');
      this.#database.prepare('INSERT OR REPLACE INTO state VALUES (1, ?)').run(version);
      if (object === undefined) {
        this.#database.prepare('DELETE FROM objects WHERE collection = ? AND key = ?').run(collection, key);
      } else {
        this.#database
          .prepare('INSERT OR REPLACE INTO objects VALUES (?, ?, ?)')
          .run(collection, key, JSON.stringify(object));
      }
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) {
        this.#database.exec('ROLLBACK');
      }
      throw internalError(`the data file cannot be written: ${(error as Error).message}`);
    }
  }

  close(): void {
    this.#database.close();
  }
}
