/** What is known of a field that a person has been in. */
export interface Typed {
  readonly value: string;
  /** What it held when they came to it. */
  readonly before: string;
  readonly readonly: boolean;
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Whether leaving would lose something: any field holds what a person has put there. */
export function wouldLose(fields: readonly Typed[]): boolean {
  return fields.some(({ value, before, readonly }) => !readonly && value !== before);
}

/** What fields held before a person changed them. Pages set fields too, so only this tells whose it is. */
export class Fields {
  readonly #before = new WeakMap<Field, string>();

  /** Notes it until the returned function is called. */
  watch(root: Document): () => void {
    const reached = ({ target }: Event) => {
      if (isField(target)) this.#note(target, stateOf(target));
    };
    const changed = ({ target }: Event) => {
      // Not every browser focuses what is clicked; then it held the opposite.
      if (isField(target) && isSwitch(target)) this.#note(target, String(!target.checked));
    };
    root.addEventListener('focusin', reached, true);
    root.addEventListener('beforeinput', reached, true);
    root.addEventListener('change', changed, true);
    return () => {
      root.removeEventListener('focusin', reached, true);
      root.removeEventListener('beforeinput', reached, true);
      root.removeEventListener('change', changed, true);
    };
  }

  /** The fields of forms that somebody has been in; what only narrows a list stands in the address, and is not lost. */
  in(root: ParentNode): Typed[] {
    return [...root.querySelectorAll<Field>('form input, form textarea, form select')].flatMap((field) => {
      const before = this.#before.get(field);
      if (before === undefined || 'filter' in field.dataset) return [];
      return [{ value: stateOf(field), before, readonly: 'readOnly' in field && field.readOnly }];
    });
  }

  #note(field: Field, state: string): void {
    if (!this.#before.has(field)) this.#before.set(field, state);
  }
}

function isField(target: EventTarget | null): target is Field {
  return target instanceof Element && target.matches('input, textarea, select');
}

function isSwitch(field: Field): field is HTMLInputElement {
  return field.type === 'checkbox' || field.type === 'radio';
}

function stateOf(field: Field): string {
  return isSwitch(field) ? String(field.checked) : field.value;
}
