// A new element with properties and children.
export function element(tag, properties = {}, ...children) {
    const e = Object.assign(document.createElement(tag), properties);
    e.append(...children);
    return e;
}
