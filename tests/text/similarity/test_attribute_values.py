"""Other values of one attribute."""

import pytest

from roamkb.text.similarity.attribute_values import give_other_values


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        ("The API listens on port 9090", "The API now listens on port 9091, no longer on 9090", True),
        ("The API listens on port 9090", "The API listens on port 9091 instead of 9090", True),
        (
            "Redis runs on port 6380, since 6379 belongs to another team",
            "Redis runs on port 6390 since Monday",
            True,
        ),
        ("The queue runs on RabbitMQ", "The queue now runs on Kafka, no longer on RabbitMQ", True),
        ("The queue runs on RabbitMQ", "The queue runs on Kafka instead of RabbitMQ", True),
        ("Die Heizung steht auf Stufe 4.", "Die Heizung steht jetzt auf Stufe 5, nicht mehr auf 4.", True),
        ("Die Warteschlange läuft auf RabbitMQ", "Die Warteschlange läuft jetzt auf Kafka statt auf RabbitMQ", True),
        ("Le service écoute sur le port 9090", "Le service écoute désormais sur le port 9091", True),
        ("El servicio escucha en el puerto 9090", "El servicio escucha ahora en el puerto 9091", True),
        ("The API listens on port 9090", "The admin API listens on port 9091", False),
        ("The API listens on port 9090", "The API listens on port 9090 since Monday", False),
        ("The build takes 4 minutes on CI", "The build takes 9 minutes on laptops", False),
        ("The gateway talks to Kafka", "The gateway talks to Postgres", False),
        ("Step 1 runs the migrations", "Step 2 runs the migrations of the clients", False),
        ("The API listens on port 9090", "The API does not listen on port 9091", False),
        ("The queue runs on RabbitMQ", "The worker runs on Kafka, no longer on RabbitMQ", False),
        ("The report takes 200 minutes", "The report takes 20 minutes here, and 200 where the disk is slow", False),
        ("Deploys take 5 minutes", "The mailer sends 5 mails, not 6", False),
    ],
)
def test_values_of_one_attribute_differ(first: str, second: str, *, differ: bool) -> None:
    """Whatever one says beside it; not under another condition, and of names only what one says to be gone."""
    assert differ is give_other_values(first, second)
    assert differ is give_other_values(second, first)
